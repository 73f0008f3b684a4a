//===- Differentiate.h - a function that gives gradients, too -------------===//
//
//   main(x, w) -> y        ->      main(x, w) -> y, dy/dx, dy/dw
//
// Reverse mode over DifferentiableOpInterface, through the decomposition of
// operations without a rule of their own. What is differentiated is the sum of
// the elements of the named results.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_AUTODIFF_DIFFERENTIATE_H
#define SINTER_AUTODIFF_DIFFERENTIATE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace sinter::autodiff {

/// The gradients of the sum of all elements of \p results by \p arguments,
/// built in front of the terminator of \p function's one block: zeros where
/// nothing depends on an argument. Fails with an error at the operation that
/// has no gradient, or where a result or an argument is not of a static shape
/// and a floating-point type.
mlir::FailureOr<llvm::SmallVector<mlir::Value>>
buildGradients(mlir::func::FuncOp function, mlir::ValueRange results,
               mlir::ValueRange arguments);

/// `differentiate{results=0 arguments=0,1}`: appends the gradients by the
/// arguments with these numbers to the results of the entry function. Without
/// numbers: the first result, by all arguments of floating-point types.
/// `memory-limit=BYTES` lets it compute values again on the way back
/// (Recompute.h) until what lives at one time, by the graph, takes no more.
std::unique_ptr<mlir::Pass> createDifferentiate();

} // namespace sinter::autodiff

#endif // SINTER_AUTODIFF_DIFFERENTIATE_H
