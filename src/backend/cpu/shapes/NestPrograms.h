//===- NestPrograms.h - loops and branches as programs of their own -------===//
//
//   %r = while (%ids = %start) : tensor<1x?xi64>       body: concatenate %ids
//
//   host_call "sinter.run_loop"(%start, %captured)     programs 0 and 1
//   %n = host_call "sinter.nested_size"()
//   %r = host_call "sinter.take_nested"(%n) : tensor<1x?xi64>
//
// A size of a Program is a number that the run finds out once. In a loop in
// which a value grows otherwise than by rows at its end, or in a loop or a
// branch that computes sizes, it would be another one in each round. So each
// region becomes the entry function of a model of its own, on what the loop
// carries and what the region reads from outside, whose program a host call
// runs as often as the loop goes round. Constants and what is computed of sizes
// go with the region.
//
// Restrictions: only what inferDimensions() has refused, in the entry
// function's own block; what is inside of it is nested again where its program
// is compiled. Its operands are ranked tensors.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_SHAPES_NESTPROGRAMS_H
#define SINTER_BACKEND_CPU_SHAPES_NESTPROGRAMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>
#include <set>
#include <vector>

namespace sinter::cpu {

/// Which loops and branches become programs, and the models of these.
struct ProgramNesting {
  /// By their numbers among the control flow in the entry function's block.
  std::set<int64_t> chosen;
  /// One a region, in the order of the numbers that host calls have.
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> models;
  /// The control flow to which inferDimensions() could not give sizes.
  std::optional<int64_t> refused;
};

/// Numbers the control flow of \p function and makes calls of what \p nesting
/// has chosen.
void nestPrograms(mlir::func::FuncOp function, ProgramNesting &nesting);

/// Records in the module that \p op, control flow in the entry function's
/// block, has sizes that change in it.
void recordRefused(mlir::Operation *op);
/// The number of such an operation, if there is one in \p module.
std::optional<int64_t> refusedIn(mlir::ModuleOp module);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_SHAPES_NESTPROGRAMS_H
