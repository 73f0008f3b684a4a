//===- WidenInt8.h - widen int8 operands for 16-bit multiplies ------------===//
//
//   cpu.int8_product(a : ui8, w : i8)
//     ->  cpu.int8_product(convert<i16>(a), w)
//
//   cpu.convolution(a : ui8, w : i8)  ->  likewise
//
//   cpu.zero_point_product(a : ui8, b : ui8)
//     ->  cpu.zero_point_product(convert<i16>(a), convert<i16>(b))
//
// CPUs without int8 dot products multiply pairs of 16-bit lanes (pmaddwd).
// Broadcasting a pair of int8 values takes three instructions, for each row and
// step; a pair of i16 values is one load. So the operands are stored as i16
// (widenOnce makes the kernel that computes them do that), with the same values
// and zero points. If both operands are computed both are widened, so that one
// kernel stores queries, keys and values.
//
// Restrictions:
//   - Targets for which Arithmetic::bytesAreWords holds.
//   - Not for Winograd convolutions, which widen each element once.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_QUANTIZED_WIDENINT8_H
#define SINTER_BACKEND_CPU_QUANTIZED_WIDENINT8_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/PatternLabels.h"

namespace sinter::cpu {

struct Target;

/// Rewrites all of \p function.
void widenInt8(mlir::func::FuncOp function, const Target &target,
               PatternRun &run);

llvm::ArrayRef<PatternInfo> widenInt8Patterns();

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_QUANTIZED_WIDENINT8_H
