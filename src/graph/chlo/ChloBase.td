//===- ChloBase.td - the dialect and the classes of its ops ---------------===//

#ifndef SINTER_GRAPH_CHLO_BASE
#define SINTER_GRAPH_CHLO_BASE

include "graph/interfaces/Interfaces.td"
include "graph/stablehlo/StablehloBase.td"

def Chlo_Dialect : Dialect {
  let name = "chlo";
  let cppNamespace = "::sinter::chlo";
  let summary = "Operations that frameworks write beside StableHLO's";
  let description = [{
    Implicit broadcasting and special functions, in the names and the text form
    of the public CHLO dialect. All are built from `stablehlo` operations as
    soon as a file is read.
  }];
  let useDefaultAttributePrinterParser = 1;
  let usePropertiesForAttributes = 1;
}

//===----------------------------------------------------------------------===//
// Types and attributes
//===----------------------------------------------------------------------===//

def Chlo_FloatTensor : Ranked<[AnyFloat], "tensor of floating-point values">;
def Chlo_FloatComplexTensor :
    Ranked<[AnyFloat, Stablehlo_Complex],
           "tensor of floating-point or complex values">;

/// The cases are StableHLO's.
class Chlo_EnumAttr<I32EnumAttr info, string name> :
    EnumAttr<Chlo_Dialect, info, name> {
  let assemblyFormat = "$value";
  let constBuilderCall = "::sinter::chlo::" # cppClassName #
                         "::get($_builder.getContext(), $0)";
}
def Chlo_ComparisonDirectionAttr :
    Chlo_EnumAttr<ComparisonDirection, "comparison_direction">;
def Chlo_ComparisonTypeAttr : Chlo_EnumAttr<ComparisonType, "comparison_type">;
def Chlo_PrecisionAttr : Chlo_EnumAttr<Precision, "precision">;
def Chlo_PrecisionConfigAttr :
    TypedArrayAttrBase<Chlo_PrecisionAttr, "the precision of each operand">;

/// `[0, 1]`; not printed where empty.
def Chlo_Dims : OptionalArrayRefParameter<"int64_t"> {
  let parser = "parseDimensions($_parser)";
  let printer = "printDimensions($_printer, $_self)";
}

def Chlo_RaggedDotDimensionNumbersAttr :
    AttrDef<Chlo_Dialect, "RaggedDotDimensionNumbers"> {
  let mnemonic = "ragged_dot";
  let summary = "Which dimensions of a ragged product batch, contract and group";
  let parameters = (ins
    Chlo_Dims:$lhs_batching_dimensions, Chlo_Dims:$rhs_batching_dimensions,
    Chlo_Dims:$lhs_contracting_dimensions,
    Chlo_Dims:$rhs_contracting_dimensions,
    Chlo_Dims:$lhs_ragged_dimensions, Chlo_Dims:$rhs_group_dimensions);
  let assemblyFormat = "`<` struct(params) `>`";
}

//===----------------------------------------------------------------------===//
// Operation classes
//===----------------------------------------------------------------------===//

class Chlo_Op<string mnemonic, list<Trait> traits = []> :
    Op<Chlo_Dialect, mnemonic, !listconcat(traits,
        [DeclareOpInterfaceMethods<DecomposableOpInterface>])>;

/// An op whose result types follow from its operands and attributes.
class Chlo_InferredOp<string mnemonic, list<Trait> traits = []> :
    Chlo_Op<mnemonic, !listconcat(traits, [Pure, InferTypeOpInterface])> {
  let extraClassDeclaration = [{
    static ::mlir::LogicalResult inferReturnTypes(
        ::mlir::MLIRContext *context, std::optional<::mlir::Location> location,
        ::mlir::ValueRange operands, ::mlir::DictionaryAttr attributes,
        ::mlir::OpaqueProperties properties, ::mlir::RegionRange regions,
        ::llvm::SmallVectorImpl<::mlir::Type> &inferredReturnTypes);
    static bool isCompatibleReturnTypes(::mlir::TypeRange inferred,
                                        ::mlir::TypeRange actual) {
      return ::sinter::compatibleTypes(inferred, actual);
    }
  }];
}

/// A function of one or more operands, elementwise; \p function (of
/// graph/chlo/Functions.h) builds it.
class Chlo_FunctionOp<string mnemonic, string function> :
    Chlo_InferredOp<mnemonic, [Elementwise, SameOperandsAndResultShape,
                               SameOperandsAndResultElementType]> {
  let extraClassDefinition = [{
    ::mlir::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *, std::optional<::mlir::Location> location,
        ::mlir::ValueRange operands, ::mlir::DictionaryAttr,
        ::mlir::OpaqueProperties, ::mlir::RegionRange,
        ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return ::sinter::inferElementwise(location, operands, types);
    }
    ::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>
    $cppClass::decompose(::mlir::OpBuilder &builder) {
      return decomposeFunction(*this, builder, }] # function # [{);
    }
  }];
}

class Chlo_UnaryOp<string mnemonic, string function,
                   Type type = Chlo_FloatTensor> :
    Chlo_FunctionOp<mnemonic, function> {
  let arguments = (ins type:$operand);
  let results = (outs type:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
}

class Chlo_ComplexUnaryOp<string mnemonic, string function> :
    Chlo_UnaryOp<mnemonic, function, Chlo_FloatComplexTensor>;

/// A predicate of a floating-point value.
class Chlo_PredicateOp<string mnemonic, string function> :
    Chlo_InferredOp<mnemonic, [Elementwise, SameOperandsAndResultShape]> {
  let arguments = (ins Chlo_FloatTensor:$operand);
  let results = (outs Stablehlo_PredTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let extraClassDefinition = [{
    ::mlir::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, std::optional<::mlir::Location>,
        ::mlir::ValueRange operands, ::mlir::DictionaryAttr,
        ::mlir::OpaqueProperties, ::mlir::RegionRange,
        ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      types.push_back(::sinter::tensorOf(operands[0])
                          .clone(::mlir::IntegerType::get(context, 1)));
      return ::mlir::success();
    }
    ::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>
    $cppClass::decompose(::mlir::OpBuilder &builder) {
      return decomposeFunction(*this, builder, }] # function # [{);
    }
  }];
}

/// An elementwise op of two operands that broadcast: by NumPy's rule, or where
/// `broadcast_dimensions` is given, dimension i of the operand of lower rank
/// is dimension `broadcast_dimensions[i]` of the result. Their element types
/// agree; \p element is the result's, of the operands' type `type`.
/// \p target builds the elementwise op of operands that have one shape.
class Chlo_BroadcastOp<string mnemonic, string target,
                       Type operandType = Stablehlo_Tensor,
                       Type resultType = operandType,
                       string element = "type"> :
    Chlo_InferredOp<mnemonic> {
  let arguments = (ins operandType:$lhs, operandType:$rhs,
                       OptionalAttr<DenseI64ArrayAttr>:$broadcast_dimensions);
  let results = (outs resultType:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:`
    `(` type($lhs) `,` type($rhs) `)` `->` type($result)
  }];
  let extraClassDefinition = [{
    ::mlir::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *, std::optional<::mlir::Location> location,
        ::mlir::ValueRange operands, ::mlir::DictionaryAttr attributes,
        ::mlir::OpaqueProperties properties, ::mlir::RegionRange regions,
        ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      Adaptor adaptor(operands, attributes, properties, regions);
      return inferBroadcast(
          location, operands, adaptor.getBroadcastDimensionsAttr(),
          [](::mlir::Type type) -> ::mlir::Type { return }] # element # [{; },
          types);
    }
    ::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>
    $cppClass::decompose(::mlir::OpBuilder &builder) {
      return decomposeBroadcast(
          *this, builder, getBroadcastDimensionsAttr(),
          [&](nn::TensorBuilder &emit, ::mlir::ValueRange operands) -> ::mlir::Value {
            ::mlir::Value lhs = operands[0], rhs = operands[1];
            return }] # target # [{;
          });
    }
  }];
}

#endif // SINTER_GRAPH_CHLO_BASE
