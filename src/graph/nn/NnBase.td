//===- NnBase.td - the dialect and the classes of its ops -----------------===//

#ifndef SINTER_GRAPH_NN_BASE
#define SINTER_GRAPH_NN_BASE

include "graph/interfaces/Interfaces.td"
include "graph/stablehlo/StablehloBase.td"

def Nn_Dialect : Dialect {
  let name = "nn";
  let cppNamespace = "::sinter::nn";
  let summary = "Structured operations of neural networks";
  let usePropertiesForAttributes = 1;
}

/// Every op here can be built from `stablehlo` ops.
class Nn_Op<string mnemonic, list<Trait> traits = []> :
    Op<Nn_Dialect, mnemonic, !listconcat(traits,
        [Pure, DeclareOpInterfaceMethods<DecomposableOpInterface>])>;

/// An op whose result types follow from its operands and attributes.
class Nn_InferredOp<string mnemonic, list<Trait> traits = []> :
    Nn_Op<mnemonic, !listconcat(traits, [InferTypeOpInterface])> {
  string inference = [{
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
  let extraClassDeclaration = inference;
}

/// The same where the result's element type is the operand's with scales, zero
/// points and all: elements are moved, not computed.
class Nn_MovingOp<string mnemonic, list<Trait> traits = []> :
    Nn_InferredOp<mnemonic, !listconcat(traits, [MovesElements])> {
  string movedInference =
      !subst("compatibleTypes", "compatibleMovedTypes", inference);
  let extraClassDeclaration = movedInference;
}

/// An op whose result has the type of its first operand.
class Nn_LikeFirstOp<string mnemonic, list<Trait> traits = []> :
    Nn_InferredOp<mnemonic, traits> {
  let extraClassDefinition = [{
    ::mlir::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *, std::optional<::mlir::Location>,
        ::mlir::ValueRange operands, ::mlir::DictionaryAttr,
        ::mlir::OpaqueProperties, ::mlir::RegionRange,
        ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      types.push_back(operands.front().getType());
      return ::mlir::success();
    }
  }];
}

/// An elementwise function of one operand. Of quantised ones, operand and result
/// may differ in scale and zero point.
class Nn_UnaryOp<string mnemonic, dag attributes = (ins)> :
    Nn_LikeFirstOp<mnemonic, [Elementwise, SameOperandsAndResultShape,
                              SameBaselineType]> {
  let arguments = !con((ins Stablehlo_Tensor:$operand), attributes);
  let results = (outs Stablehlo_Tensor:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` custom<SameTypes>(type($operand), type($result))
  }];
}

def Nn_IntTensor : Ranked<[Stablehlo_Int], "tensor of integers">;
class Nn_DefaultF64<string value> : DefaultValuedAttr<F64Attr, value>;

#endif // SINTER_GRAPH_NN_BASE
