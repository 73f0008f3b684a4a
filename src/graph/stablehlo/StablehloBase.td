//===- StablehloBase.td - classes of the operations -----------------------===//

#ifndef SINTER_GRAPH_STABLEHLO_BASE
#define SINTER_GRAPH_STABLEHLO_BASE

include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "graph/interfaces/Interfaces.td"
include "graph/stablehlo/StablehloAttributes.td"
include "graph/stablehlo/StablehloTypes.td"

/// Operands and results have the same shape and the same element type, but for
/// scales and zero points: baseline_type of the specification. Constraint (C1)
/// of nearly all elementwise operations.
def SameBaselineType : NativeOpTrait<"SameBaselineType"> {
  let cppNamespace = "::sinter::stablehlo::traits";
}

/// An op that can be decomposed, at least for some operands.
def Decomposable : DeclareOpInterfaceMethods<DecomposableOpInterface>;

class Stablehlo_Op<string mnemonic, list<Trait> traits = []> :
    Op<Stablehlo_Dialect, mnemonic, traits>;

/// An op whose result types are inferred from its operands, attributes and
/// regions: the builder takes none, and the verifier compares the actual types
/// with the inferred ones.
class Stablehlo_InferringOp<string mnemonic, list<Trait> traits = []> :
    Stablehlo_Op<mnemonic, !listconcat(traits, [InferTypeOpInterface])> {
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

/// The same without effects.
class Stablehlo_InferredOp<string mnemonic, list<Trait> traits = []> :
    Stablehlo_InferringOp<mnemonic, !listconcat(traits, [Pure])>;

/// The same where the result's element type is an operand's, including scales
/// and zero points: elements are moved, not computed.
class Stablehlo_MovingOp<string mnemonic, list<Trait> traits = []> :
    Stablehlo_InferredOp<mnemonic, !listconcat(traits, [MovesElements])> {
  let extraClassDeclaration = !subst("compatibleTypes", "compatibleMovedTypes",
                                     inference);
}

/// An op with a region that runs once per element or window: one block that
/// ends with `return`.
class Stablehlo_RegionOp<string mnemonic, list<Trait> traits = []> :
    Stablehlo_InferringOp<mnemonic, !listconcat(traits,
        [RecursiveMemoryEffects,
         SingleBlockImplicitTerminator<"ReturnOp">])>;

/// Results that have the types of the operands, one by one.
defvar inferLikeOperands = [{
  ::mlir::LogicalResult $cppClass::inferReturnTypes(
      ::mlir::MLIRContext *, std::optional<::mlir::Location>,
      ::mlir::ValueRange operands, ::mlir::DictionaryAttr,
      ::mlir::OpaqueProperties, ::mlir::RegionRange,
      ::llvm::SmallVectorImpl<::mlir::Type> &types) {
    ::llvm::append_range(types, operands.getTypes());
    return ::mlir::success();
  }
}];

/// One token.
defvar inferToken = [{
  ::mlir::LogicalResult $cppClass::inferReturnTypes(
      ::mlir::MLIRContext *context, std::optional<::mlir::Location>,
      ::mlir::ValueRange, ::mlir::DictionaryAttr, ::mlir::OpaqueProperties,
      ::mlir::RegionRange, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
    types.push_back(TokenType::get(context));
    return ::mlir::success();
  }
}];

/// An elementwise op whose result has the operands' type.
class Stablehlo_ElementwiseOp<string mnemonic, list<Trait> traits = []> :
    Stablehlo_InferredOp<mnemonic, !listconcat(traits,
        [Elementwise, SameOperandsAndResultShape])> {
  let extraClassDefinition = [{
    ::mlir::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *, std::optional<::mlir::Location> location,
        ::mlir::ValueRange operands, ::mlir::DictionaryAttr,
        ::mlir::OpaqueProperties, ::mlir::RegionRange,
        ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return ::sinter::inferElementwise(location, operands, types);
    }
  }];
}

class Stablehlo_UnaryOp<string mnemonic, Type operandType> :
    Stablehlo_ElementwiseOp<mnemonic, [SameBaselineType]> {
  let arguments = (ins Input<1, operandType>:$operand);
  let results = (outs operandType:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` custom<SameTypes>(type($operand), type($result))
  }];
}

/// A transcendental function with an optional required accuracy.
class Stablehlo_FunctionOp<string mnemonic> :
    Stablehlo_ElementwiseOp<mnemonic, [SameBaselineType]> {
  let arguments = (ins Input<1, Stablehlo_FloatComplexTensor>:$operand,
                       OptionalAttr<ResultAccuracyAttr>:$result_accuracy);
  let results = (outs Stablehlo_FloatComplexTensor:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` custom<SameTypes>(type($operand), type($result))
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$operand), [{
      build($_builder, $_state, operand, ResultAccuracyAttr());
    }]>,
    OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$operand), [{
      build($_builder, $_state, result, operand, ResultAccuracyAttr());
    }]>];
}

class Stablehlo_BinaryOp<string mnemonic, Type operandType,
                         list<Trait> traits = [SameBaselineType]> :
    Stablehlo_ElementwiseOp<mnemonic, traits> {
  let arguments = (ins Input<1, operandType>:$lhs, Input<2, operandType>:$rhs);
  let results = (outs operandType:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict
      `:` custom<SameTypes>(type($lhs), type($rhs), type($result))
  }];
}

#endif // SINTER_GRAPH_STABLEHLO_BASE
