//===- BoundLoops.h - bounds loops of unknown length ----------------------===//
//
//   while (c(s)) s = f(s)   ->   for (i < N) s = c(s) ? f(s) : s
//                                if c(s): s is NaN
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_AUTODIFF_BOUNDLOOPS_H
#define SINTER_AUTODIFF_BOUNDLOOPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstdint>

namespace sinter::autodiff {

/// Gives each loop of \p function that carries floats, and whose trip count is
/// unknown, \p mostTrips trips, of which those behind its end do nothing. Where
/// it would go on behind them, the floats that it carries become NaN.
void boundLoops(mlir::func::FuncOp function, int64_t mostTrips);

} // namespace sinter::autodiff

#endif // SINTER_AUTODIFF_BOUNDLOOPS_H
