//===- Differentiate.h - a function that also returns gradients -----------===//
//
//   main(x, w) -> y        ->      main(x, w) -> y, dy/dx, dy/dw
//
// Reverse mode over DifferentiableOpInterface, through the decomposition of
// operations without their own rule. The sum of the elements of the named
// results is differentiated.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_AUTODIFF_DIFFERENTIATE_H
#define SINTER_AUTODIFF_DIFFERENTIATE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace sinter::autodiff {

/// Builds the gradients of the sum of all elements of \p results with respect
/// to \p arguments, in front of the terminator of \p function's one block:
/// zeros where nothing depends on an argument. Fails with an error at the
/// operation that has no gradient, or where a result or an argument is not of a
/// static shape and a floating-point type.
mlir::FailureOr<llvm::SmallVector<mlir::Value>>
buildGradients(mlir::func::FuncOp function, mlir::ValueRange results,
               mlir::ValueRange arguments);

/// `differentiate{results=0 arguments=0,1}`: appends the gradients with respect
/// to the arguments with these indices to the results of the entry function.
/// Without indices: of the first result, with respect to all arguments of
/// floating-point types. `memory-limit=BYTES` lets it recompute values in the
/// backward pass (Recompute.h) until the values that are live at one time, by
/// the graph, need no more.
std::unique_ptr<mlir::Pass> createDifferentiate();

} // namespace sinter::autodiff

#endif // SINTER_AUTODIFF_DIFFERENTIATE_H
