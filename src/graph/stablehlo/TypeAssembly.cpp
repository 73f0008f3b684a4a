// The types of operands and results in the text form.

#include "graph/stablehlo/AssemblyFormat.h"

using namespace mlir;

namespace sinter::stablehlo {

ParseResult parseSameTypes(OpAsmParser &parser, ArrayRef<Type *> types) {
  SMLoc location = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type))
    return failure();
  auto function = dyn_cast<FunctionType>(type);
  if (!function) {
    for (Type *each : types)
      *each = type;
    return success();
  }
  if (function.getNumInputs() != types.size() - 1 ||
      function.getNumResults() != 1)
    return parser.emitError(location, "expected ")
           << types.size() - 1 << " operand types and one result type";
  for (auto [each, input] : llvm::zip(types, function.getInputs()))
    *each = input;
  *types.back() = function.getResult(0);
  return success();
}

void printSameTypes(OpAsmPrinter &printer, TypeRange operands, Type result) {
  if (llvm::all_of(operands, [&](Type type) { return type == result; }))
    printer << result;
  else
    printer.printFunctionalType(operands, TypeRange{result});
}

ParseResult parseComplexTypes(OpAsmParser &parser, Type &lhs, Type &rhs,
                              Type &result) {
  SMLoc location = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type))
    return failure();
  if (auto function = dyn_cast<FunctionType>(type)) {
    if (function.getNumInputs() != 2 || function.getNumResults() != 1)
      return parser.emitError(location, "expected two operand types");
    lhs = function.getInput(0);
    rhs = function.getInput(1);
    result = function.getResult(0);
    return success();
  }
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto complex =
      tensor ? dyn_cast<ComplexType>(tensor.getElementType()) : ComplexType();
  if (!complex)
    return parser.emitError(location, "expected a tensor of complex values");
  result = type;
  lhs = rhs = tensor.clone(complex.getElementType());
  return success();
}

void printComplexTypes(OpAsmPrinter &printer, Operation *, Type lhs, Type rhs,
                       Type result) {
  auto complex = cast<ComplexType>(cast<ShapedType>(result).getElementType());
  Type real = cast<RankedTensorType>(result).clone(complex.getElementType());
  if (lhs == real && rhs == real)
    printer << result;
  else
    printer.printFunctionalType(TypeRange{lhs, rhs}, TypeRange{result});
}

ParseResult parseSelectTypes(OpAsmParser &parser, Type &pred, Type &onTrue,
                             Type &onFalse, Type &result) {
  SMLoc location = parser.getCurrentLocation();
  SmallVector<Type> types;
  if (parser.parseTypeList(types))
    return failure();
  if (types.size() == 2) {
    pred = types[0];
    onTrue = onFalse = result = types[1];
    return success();
  }
  auto function =
      types.size() == 1 ? dyn_cast<FunctionType>(types[0]) : FunctionType();
  if (!function || function.getNumInputs() != 3 ||
      function.getNumResults() != 1)
    return parser.emitError(location, "expected two types or a function type "
                                      "of three operands");
  pred = function.getInput(0);
  onTrue = function.getInput(1);
  onFalse = function.getInput(2);
  result = function.getResult(0);
  return success();
}

void printSelectTypes(OpAsmPrinter &printer, Operation *, Type pred,
                      Type onTrue, Type onFalse, Type result) {
  if (onTrue == result && onFalse == result)
    printer << pred << ", " << result;
  else
    printer.printFunctionalType(TypeRange{pred, onTrue, onFalse},
                                TypeRange{result});
}

ParseResult parseSameVariadicTypes(OpAsmParser &parser,
                                   ArrayRef<UnresolvedOperand> operands,
                                   SmallVectorImpl<Type> &types, Type &result) {
  types.resize(operands.size());
  SmallVector<Type *> all;
  for (Type &type : types)
    all.push_back(&type);
  all.push_back(&result);
  return parseSameTypes(parser, all);
}

void printSameVariadicTypes(OpAsmPrinter &printer, Operation *, OperandRange,
                            TypeRange operands, Type result) {
  printSameTypes(printer, operands, result);
}

ParseResult parsePairwiseTypes(OpAsmParser &parser,
                               SmallVectorImpl<Type> &operands,
                               SmallVectorImpl<Type> &results) {
  if (parser.parseTypeList(operands))
    return failure();
  results.assign(operands.begin(), operands.end());
  return success();
}

void printPairwiseTypes(OpAsmPrinter &printer, Operation *, TypeRange operands,
                        TypeRange) {
  llvm::interleaveComma(operands, printer);
}

ParseResult parseTupleTypes(OpAsmParser &parser,
                            SmallVectorImpl<Type> &operands, Type &result) {
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseType(result))
    return failure();
  auto tuple = dyn_cast<TupleType>(result);
  if (!tuple)
    return parser.emitError(location, "expected a tuple type");
  llvm::append_range(operands, tuple.getTypes());
  return success();
}

void printTupleTypes(OpAsmPrinter &printer, Operation *, TypeRange,
                     Type result) {
  printer << result;
}

} // namespace sinter::stablehlo
