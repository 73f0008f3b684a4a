//===- OpenTuples.h - tensors in place of what only holds them ------------===//
//
//   t = tuple(a, b)                  ->   use(b)
//   use(get_tuple_element(t, 1))
//
//   f = async_start(x) { g }         ->   use(g(x))
//   use(async_done(f))
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_STABLEHLO_OPENTUPLES_H
#define SINTER_GRAPH_STABLEHLO_OPENTUPLES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sinter {

/// Puts the regions of what starts in \p function where they start, as if
/// nothing else ran meanwhile. Futures that somebody else awaits stay.
void inlineFutures(mlir::func::FuncOp function);

/// Hands the elements of the tuples that \p function makes to those who read
/// them. Tuples that are read as a whole, or come from elsewhere, stay.
void openTuples(mlir::func::FuncOp function);

} // namespace sinter

#endif // SINTER_GRAPH_STABLEHLO_OPENTUPLES_H
