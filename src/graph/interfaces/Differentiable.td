//===- Differentiable.td - build my gradient -------------------------------===//

#ifndef SINTER_GRAPH_DIFFERENTIABLE
#define SINTER_GRAPH_DIFFERENTIABLE

include "mlir/IR/OpBase.td"

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::sinter";
  let description = [{
    An operation that knows its own derivative.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds, where \p builder stands, the gradients of a number by the operands,
      given those by the results (null where the number does not depend on a
      result): one for each operand, of its type, null where it is zero or the
      operand is not of a floating-point type. An operation whose regions read
      values from outside adds one for each of these (gradient::sourcesOf).
      Fails, without a word, where shapes are not static or the case is not
      covered.
    }], "::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>",
    "buildGradients",
    (ins "::mlir::OpBuilder &":$builder,
         "::mlir::ValueRange":$resultGradients)>
  ];
}

#endif // SINTER_GRAPH_DIFFERENTIABLE
