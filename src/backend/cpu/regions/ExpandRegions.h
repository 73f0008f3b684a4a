//===- ExpandRegions.h - loops of steps for what no kernel can hold -------===//
//
//   r = map(x) { f }       ->  for i < n: r[i] = f(x[i])
//   r = reduce(x, s) { f } ->  for i < n: a = s; for k < m: a = f(a, x[i][k])
//                                         r[i] = a
//
// Regions of scalars are inlined into kernels. Any other, with tensors, host
// calls or whatever a program may hold, becomes the body of stablehlo.while
// loops over the elements: slow, but for all of the language. So do the regions
// of map, reduce, reduce_window, scatter, select_and_scatter and sort.
//
// Restrictions: shapes are static.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_REGIONS_EXPANDREGIONS_H
#define SINTER_BACKEND_CPU_REGIONS_EXPANDREGIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sinter::cpu {

/// Rewrites what is not in kernels' regions: the body of \p function and those
/// of control flow, the ones that it makes among them.
void expandRegions(mlir::func::FuncOp function);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_REGIONS_EXPANDREGIONS_H
