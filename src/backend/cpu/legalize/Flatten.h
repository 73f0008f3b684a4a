//===- Flatten.h - remove tuples, tokens, futures, barriers ---------------===//
//
//   t = tuple(a, b); x = get_tuple_element(t, 0)   ->   x = a
//   f = async_start({ ... }); y = async_done(f)    ->   y = ...
//   x = optimization_barrier(a)                    ->   x = a
//
// Tokens order operations with effects, which stay in program order anyway:
// they become tensors without elements.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LEGALIZE_FLATTEN_H
#define SINTER_BACKEND_CPU_LEGALIZE_FLATTEN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sinter::cpu {

/// Removes tuples, tokens, futures and barriers from \p function, except tuples
/// that it takes or returns.
void flatten(mlir::func::FuncOp function);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LEGALIZE_FLATTEN_H
