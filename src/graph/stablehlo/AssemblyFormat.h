//===- AssemblyFormat.h - custom directives of the text form --------------===//
//
// Parsers and printers of the custom directives in the operations' formats.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_STABLEHLO_ASSEMBLYFORMAT_H
#define SINTER_GRAPH_STABLEHLO_ASSEMBLYFORMAT_H

#include "graph/stablehlo/StablehloOps.h"

namespace sinter::stablehlo {

/// One type for all, or `(operand types) -> result type` where they differ.
mlir::ParseResult parseSameTypes(mlir::OpAsmParser &parser,
                                 llvm::ArrayRef<mlir::Type *> types);
void printSameTypes(mlir::OpAsmPrinter &printer, mlir::TypeRange operands,
                    mlir::Type result);

inline mlir::ParseResult parseSameTypes(mlir::OpAsmParser &parser,
                                        mlir::Type &operand,
                                        mlir::Type &result) {
  return parseSameTypes(parser, {&operand, &result});
}
inline mlir::ParseResult parseSameTypes(mlir::OpAsmParser &parser,
                                        mlir::Type &lhs, mlir::Type &rhs,
                                        mlir::Type &result) {
  return parseSameTypes(parser, {&lhs, &rhs, &result});
}
inline mlir::ParseResult parseSameTypes(mlir::OpAsmParser &parser,
                                        mlir::Type &a, mlir::Type &b,
                                        mlir::Type &c, mlir::Type &result) {
  return parseSameTypes(parser, {&a, &b, &c, &result});
}
inline void printSameTypes(mlir::OpAsmPrinter &printer, mlir::Operation *,
                           mlir::Type operand, mlir::Type result) {
  printSameTypes(printer, {operand}, result);
}
inline void printSameTypes(mlir::OpAsmPrinter &printer, mlir::Operation *,
                           mlir::Type lhs, mlir::Type rhs, mlir::Type result) {
  printSameTypes(printer, {lhs, rhs}, result);
}
inline void printSameTypes(mlir::OpAsmPrinter &printer, mlir::Operation *,
                           mlir::Type a, mlir::Type b, mlir::Type c,
                           mlir::Type result) {
  printSameTypes(printer, {a, b, c}, result);
}

/// The complex result's type alone.
mlir::ParseResult parseComplexTypes(mlir::OpAsmParser &parser, mlir::Type &lhs,
                                    mlir::Type &rhs, mlir::Type &result);
void printComplexTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                       mlir::Type lhs, mlir::Type rhs, mlir::Type result);

/// `pred type, result type`, or a functional type where the operands differ.
mlir::ParseResult parseSelectTypes(mlir::OpAsmParser &parser, mlir::Type &pred,
                                   mlir::Type &onTrue, mlir::Type &onFalse,
                                   mlir::Type &result);
void printSelectTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                      mlir::Type pred, mlir::Type onTrue, mlir::Type onFalse,
                      mlir::Type result);

/// One type for all operands and the result, or a functional type.
mlir::ParseResult parseSameVariadicTypes(
    mlir::OpAsmParser &parser,
    llvm::ArrayRef<mlir::OpAsmParser::UnresolvedOperand> operands,
    llvm::SmallVectorImpl<mlir::Type> &types, mlir::Type &result);
void printSameVariadicTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                            mlir::OperandRange operands, mlir::TypeRange types,
                            mlir::Type result);

/// The operands' types, which are the results' too.
mlir::ParseResult
parsePairwiseTypes(mlir::OpAsmParser &parser,
                   llvm::SmallVectorImpl<mlir::Type> &operands,
                   llvm::SmallVectorImpl<mlir::Type> &results);
void printPairwiseTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                        mlir::TypeRange operands, mlir::TypeRange results);

/// The result's tuple type, which holds the operands'.
mlir::ParseResult parseTupleTypes(mlir::OpAsmParser &parser,
                                  llvm::SmallVectorImpl<mlir::Type> &operands,
                                  mlir::Type &result);
void printTupleTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                     mlir::TypeRange operands, mlir::Type result);

/// A size, or `?`, which is kDynamic.
mlir::ParseResult parseDimSize(mlir::AsmParser &parser,
                               llvm::SmallVectorImpl<int64_t> &sizes);
void printDimSize(mlir::AsmPrinter &printer, int64_t size);
/// [1, ?, 3]
mlir::ParseResult parseDimSizes(mlir::AsmParser &parser,
                                llvm::SmallVectorImpl<int64_t> &sizes);
inline mlir::ParseResult
parseDimSizes(mlir::AsmParser &parser,
              mlir::FailureOr<llvm::SmallVector<int64_t>> &sizes) {
  return parseDimSizes(parser, sizes.emplace());
}
void printDimSizes(mlir::AsmPrinter &printer, llvm::ArrayRef<int64_t> sizes);

/// @name
inline mlir::ParseResult parseCustomCallTarget(mlir::AsmParser &parser,
                                               mlir::StringAttr &target) {
  return parser.parseSymbolName(target);
}
inline void printCustomCallTarget(mlir::AsmPrinter &printer, mlir::Operation *,
                                  mlir::StringAttr target) {
  printer.printSymbolName(target.getValue());
}

/// e5m10
mlir::ParseResult parseExponentMantissa(mlir::AsmParser &parser,
                                        mlir::IntegerAttr &exponent,
                                        mlir::IntegerAttr &mantissa);
void printExponentMantissa(mlir::AsmPrinter &printer, mlir::Operation *op,
                           mlir::IntegerAttr exponent,
                           mlir::IntegerAttr mantissa);

/// [0:2, 1:4:2]
mlir::ParseResult parseSliceRanges(mlir::OpAsmParser &parser,
                                   mlir::DenseI64ArrayAttr &starts,
                                   mlir::DenseI64ArrayAttr &limits,
                                   mlir::DenseI64ArrayAttr &strides);
void printSliceRanges(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                      llvm::ArrayRef<int64_t> starts,
                      llvm::ArrayRef<int64_t> limits,
                      llvm::ArrayRef<int64_t> strides);

/// Operands, each followed by a comma, before a keyword.
using UnresolvedOperand = mlir::OpAsmParser::UnresolvedOperand;
mlir::ParseResult
parseOperandsWithAttr(mlir::OpAsmParser &parser,
                      llvm::SmallVectorImpl<UnresolvedOperand> &operands);
mlir::ParseResult
parseOperandsWithAttr(mlir::OpAsmParser &parser, UnresolvedOperand &first,
                      llvm::SmallVectorImpl<UnresolvedOperand> &operands);
void printOperandsWithAttr(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                           mlir::OperandRange operands);
void printOperandsWithAttr(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                           mlir::Value first, mlir::OperandRange operands);

/// [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]
mlir::ParseResult parseConvolutionDimensions(mlir::AsmParser &parser,
                                             ConvDimensionNumbersAttr &numbers);
void printConvolutionDimensions(mlir::AsmPrinter &printer,
                                ConvDimensionNumbersAttr numbers);
inline void printConvolutionDimensions(mlir::AsmPrinter &printer,
                                       mlir::Operation *,
                                       ConvDimensionNumbersAttr numbers) {
  printConvolutionDimensions(printer, numbers);
}

/// stride = [2, 2], pad = [[1, 1], [1, 1]], lhs_dilate = [..], ...
mlir::ParseResult parseWindowAttributes(mlir::OpAsmParser &parser,
                                        mlir::DenseI64ArrayAttr &strides,
                                        mlir::DenseIntElementsAttr &padding,
                                        mlir::DenseI64ArrayAttr &lhsDilation,
                                        mlir::DenseI64ArrayAttr &rhsDilation,
                                        mlir::DenseBoolArrayAttr &reversal);
void printWindowAttributes(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                           mlir::DenseI64ArrayAttr strides,
                           mlir::DenseIntElementsAttr padding,
                           mlir::DenseI64ArrayAttr lhsDilation,
                           mlir::DenseI64ArrayAttr rhsDilation,
                           mlir::DenseBoolArrayAttr reversal);

/// batching_dims = [0] x [0], contracting_dims = [2] x [1]
mlir::ParseResult parseDotDimensions(mlir::AsmParser &parser,
                                     DotDimensionNumbersAttr &numbers);
void printDotDimensions(mlir::AsmPrinter &printer, mlir::Operation *op,
                        DotDimensionNumbersAttr numbers);

/// , precision = [DEFAULT, HIGH]
mlir::ParseResult parsePrecisionConfig(mlir::OpAsmParser &parser,
                                       mlir::ArrayAttr &precision);
void printPrecisionConfig(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                          mlir::ArrayAttr precision);

/// , precision = [DEFAULT, HIGH], algorithm = <lhs_precision_type = tf32, ...>
mlir::ParseResult parsePrecisionAndAlgorithm(mlir::OpAsmParser &parser,
                                             mlir::ArrayAttr &precision,
                                             DotAlgorithmAttr &algorithm);
void printPrecisionAndAlgorithm(mlir::OpAsmPrinter &printer,
                                mlir::Operation *op, mlir::ArrayAttr precision,
                                DotAlgorithmAttr algorithm);

} // namespace sinter::stablehlo

#endif // SINTER_GRAPH_STABLEHLO_ASSEMBLYFORMAT_H
