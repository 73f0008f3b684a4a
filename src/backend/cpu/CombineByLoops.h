//===- CombineByLoops.h - reductions over processes by any function -------===//
//
//   all_reduce(x) { f }  ->  n = call gather(x), r = call gathered(0)
//                            for i in 1 .. n: r = f(r, call gathered(i))
//
// How many processes a group has is known only when the program runs. The order
// is that of the group.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_COMBINEBYLOOPS_H
#define SINTER_BACKEND_CPU_COMBINEBYLOOPS_H

#include "mlir/IR/Operation.h"

#include <string>

namespace sinter::cpu {

/// Replaces \p op, a stablehlo.all_reduce, reduce_scatter or collective_reduce,
/// by the above. \p configuration is what its host function would be told.
void combineByLoops(mlir::Operation *op, const std::string &configuration);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_COMBINEBYLOOPS_H
