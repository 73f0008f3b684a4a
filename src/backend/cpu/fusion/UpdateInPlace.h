//===- UpdateInPlace.h - update states and loop carries in place ----------===//
//
//   func(%w : state) { %w' = cpu.kernel(%w, %g) { w - 0.1 * g }, ... reads %w,
//                      return %w' for the state }
//     -> the same, the kernel with `updated = 0`, after all users of %w
//
// A kernel that computes each element of a state's next value from the element
// at the same index (and other inputs) writes to the state's own memory, which
// saves a copy. The same holds for loop-carried values.
//
// Restrictions:
//   - The kernel computes elementwise only, one result, which has the state's
//     memory type, and reads no more of the state than the element that it
//     writes.
//   - It can be moved after all users of the old value: none of them depends on
//     the new one.
//
// A kernel that does not read the old value also writes there, once it is in
// that order: Schedule.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_FUSION_UPDATEINPLACE_H
#define SINTER_BACKEND_CPU_FUSION_UPDATEINPLACE_H

#include "backend/cpu/ir/CpuOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/PatternLabels.h"

namespace sinter::cpu {

void updateInPlace(mlir::func::FuncOp function, PatternRun &run);
llvm::ArrayRef<PatternInfo> updateInPlacePatterns();

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_FUSION_UPDATEINPLACE_H
