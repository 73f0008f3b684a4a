//===- Differentiable.td - gradients of operations ------------------------===//

#ifndef SINTER_GRAPH_DIFFERENTIABLE
#define SINTER_GRAPH_DIFFERENTIABLE

include "mlir/IR/OpBase.td"

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::sinter";
  let description = [{
    An operation that can build its own gradient.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds, at \p builder's insertion point, the gradients of a scalar by the
      operands, given those by the results (null where the scalar does not
      depend on a result): one for each operand, of its type, null where it is
      zero or the operand is not of a floating-point type. An operation whose
      regions capture values adds one for each of these (gradient::sourcesOf).
      Fails, without a diagnostic, where shapes are not static or the case is
      not covered.
    }], "::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>",
    "buildGradients",
    (ins "::mlir::OpBuilder &":$builder,
         "::mlir::ValueRange":$resultGradients)>
  ];
}

#endif // SINTER_GRAPH_DIFFERENTIABLE
