//===- Interfaces.td - op interfaces for passes ---------------------------===//
//
// Passes have no lists of op kinds: ops, including a backend's own, declare by
// these interfaces which rewrites are valid.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_INTERFACES
#define SINTER_GRAPH_INTERFACES

include "mlir/IR/OpBase.td"

/// The elements of the result are elements of the operands of its element type,
/// placed by shapes, attributes and indices alone. So the operation works alike
/// on storage elements of quantised tensors with the same parameters.
def MovesElements : NativeOpTrait<"MovesElements"> {
  let cppNamespace = "::sinter::traits";
}

/// Passes tensors on as they are stored, without interpreting their elements: a
/// call, a tuple, a constant, a query of a size.
def HandsTensorsOn : NativeOpTrait<"HandsTensorsOn"> {
  let cppNamespace = "::sinter::traits";
}

def DecomposableOpInterface : OpInterface<"DecomposableOpInterface"> {
  let cppNamespace = "::sinter";
  let description = [{
    An operation that can be built from `stablehlo` operations. Every `nn`
    operation can, so that every backend can run it and every writer can write
    it.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the same values from `stablehlo` operations before this operation
      and returns them, one for each result; does not erase this operation.
      Fails, with nothing built, where the shapes it needs are not static.
    }], "::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>", "decompose",
    (ins "::mlir::OpBuilder &":$builder)>
  ];
}

def ChannelwiseAffineOpInterface : OpInterface<"ChannelwiseAffineOpInterface"> {
  let cppNamespace = "::sinter";
  let description = [{
    A product of its first two operands, linear in each. One may be a weight: a
    scale (and a shift) before or after the operation can be folded into the
    weight's channels. The axes define which dimensions these are: see
    resultFolds, operandFolds.
  }];
  let methods = [
    InterfaceMethod<[{
      Whether \p operand may be a weight.
    }], "bool", "mayBeWeight", (ins "unsigned":$operand), "", "return true;">,
    InterfaceMethod<[{
      Whether it reads values (zeros) from outside the operand, which a shift of
      the operand would not reach.
    }], "bool", "readsPadding", (ins), "", "return false;">,
    InterfaceMethod<[{
      For operations that compute the product internally, not as a result: the
      optional operand whose first half along the last dimension is added to the
      product. The halves have the weight's dimensions without the contracted
      one; the second half is unrelated.
    }], "std::optional<::mlir::MutableOperandRange>", "getInnerBias", (ins), "",
    "return std::nullopt;">
  ];
}

#endif // SINTER_GRAPH_INTERFACES
