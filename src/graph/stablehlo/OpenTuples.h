//===- OpenTuples.h - unpacks tuples and inlines futures ------------------===//
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

/// Inlines the regions of async_start operations in \p function, as if nothing
/// ran concurrently. Futures with other users than async_done stay.
void inlineFutures(mlir::func::FuncOp function);

/// Replaces uses of tuple elements in \p function by the elements. Tuples that
/// are used as a whole, or come from elsewhere, stay.
void openTuples(mlir::func::FuncOp function);

} // namespace sinter

#endif // SINTER_GRAPH_STABLEHLO_OPENTUPLES_H
