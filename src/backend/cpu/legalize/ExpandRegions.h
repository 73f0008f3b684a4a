//===- ExpandRegions.h - loops for regions that kernels cannot hold -------===//
//
//   r = map(x) { f }       ->  for i < n: r[i] = f(x[i])
//   r = reduce(x, s) { f } ->  for i < n: a = s; for k < m: a = f(a, x[i][k])
//                                         r[i] = a
//
// Regions of scalar operations are inlined into kernels. Any other region of
// map, reduce, reduce_window, scatter, select_and_scatter or sort, with
// tensors, runtime calls or control flow, becomes the body of stablehlo.while
// loops over the elements: slow, but complete.
//
// Restrictions: shapes are static.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LEGALIZE_EXPANDREGIONS_H
#define SINTER_BACKEND_CPU_LEGALIZE_EXPANDREGIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sinter::cpu {

/// Rewrites the body of \p function and the regions of control flow, including
/// those that it creates.
void expandRegions(mlir::func::FuncOp function);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LEGALIZE_EXPANDREGIONS_H
