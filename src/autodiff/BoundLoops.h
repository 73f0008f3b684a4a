//===- BoundLoops.h - loops of unknown length, with a limit ---------------===//
//
//   while (c(s)) s = f(s)   ->   for (i < N) s = c(s) ? f(s) : s
//                                if c(s): s is not a number
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_AUTODIFF_BOUNDLOOPS_H
#define SINTER_AUTODIFF_BOUNDLOOPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstdint>

namespace sinter::autodiff {

/// Gives each loop of \p function that hands on floating-point numbers, and of
/// which it is not known how often it runs, \p mostTrips trips, of which those
/// behind its end do nothing. Where it would go on behind them, the numbers
/// that it hands on are none.
void boundLoops(mlir::func::FuncOp function, int64_t mostTrips);

} // namespace sinter::autodiff

#endif // SINTER_AUTODIFF_BOUNDLOOPS_H
