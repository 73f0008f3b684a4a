//===- Interfaces.td - what an op can tell the compiler -------------------===//
//
// Passes know no list of op kinds: an op, ours or a backend's own, says through
// these interfaces what may be done with it.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_INTERFACES
#define SINTER_GRAPH_INTERFACES

include "mlir/IR/OpBase.td"

/// The elements of the result are elements of the operands of its element type,
/// placed by shapes, attributes and indices alone. So the operation is the same
/// on storage elements of quantised tensors that mean the same.
def MovesElements : NativeOpTrait<"MovesElements"> {
  let cppNamespace = "::sinter::traits";
}

/// Takes and gives tensors as they are stored, and says nothing of the numbers
/// that they stand for: a call, a tuple, a constant, what asks for a size.
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
    A product of two operands, linear in each, one of which may be a weight: its
    channels can take up a scale (and a shift) that stands before or after the
    operation. Which these are, its axes say: see resultFolds, operandFolds.
  }];
  let methods = [
    InterfaceMethod<[{
      Whether \p operand is one that may be a weight.
    }], "bool", "mayBeWeight", (ins "unsigned":$operand), "", "return true;">,
    InterfaceMethod<[{
      Whether it reads values (zeros) from outside the operand, which a shift of
      the operand would not reach.
    }], "bool", "readsPadding", (ins), "", "return false;">
  ];
}

#endif // SINTER_GRAPH_INTERFACES
