//===- CombineByLoops.h - collective reductions by any function -----------===//
//
//   all_reduce(x) { f }  ->  n = call gather(x), r = call gathered(0)
//                            for i in 1 .. n: r = f(r, call gathered(i))
//
// The group size is only known at run time. Values are combined in the group's
// order.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LEGALIZE_COMBINEBYLOOPS_H
#define SINTER_BACKEND_CPU_LEGALIZE_COMBINEBYLOOPS_H

#include "mlir/IR/Operation.h"

#include <string>

namespace sinter::cpu {

/// Rewrites \p op, a stablehlo.all_reduce, reduce_scatter or collective_reduce,
/// as above. \p configuration is that of its runtime call.
void combineByLoops(mlir::Operation *op, const std::string &configuration);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LEGALIZE_COMBINEBYLOOPS_H
