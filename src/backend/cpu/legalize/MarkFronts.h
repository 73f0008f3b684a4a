//===- MarkFronts.h - mark sorts of which only the front is read ----------===//
//
//   s = sort(x), y = slice(s, [0, k))  ->  s = sort(x) {sinter.front = k}
//
// The kernel of a marked sort need not order what lies behind the first k
// elements of a row: it selects these, and sorts them alone.
//
// Restrictions: all uses of all results are slices, along the sorted dimension
// from 0 on with stride 1.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LEGALIZE_MARKFRONTS_H
#define SINTER_BACKEND_CPU_LEGALIZE_MARKFRONTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sinter::cpu {

/// Marks the sorts of \p function by frontAttribute.
void markFronts(mlir::func::FuncOp function);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LEGALIZE_MARKFRONTS_H
