//===- WidenBytes.h - bytes as words where machines multiply words --------===//
//
//   cpu.byte_product(a : ui8, w : i8)
//     ->  cpu.byte_product(convert<i16>(a), w)
//
//   cpu.convolution(a : ui8, w : i8)  ->  likewise
//
//   cpu.distance_product(a : ui8, b : ui8)
//     ->  cpu.distance_product(convert<i16>(a), convert<i16>(b))
//
// Machines without dot products of bytes multiply pairs of 16 bits (pmaddwd).
// A pair of bytes takes three instructions to come into all lanes of a vector,
// row by row and step by step; a pair of words is one load. The bytes are
// words in memory then (widenOnce lets the kernel that computes them write them
// so), and keep their numbers and zero points. Of two computed factors both
// are, so that it is one kernel that writes queries, keys and values.
//
// Restrictions:
//   - Targets for which Arithmetic::bytesAreWords holds.
//   - Not what is convolved by Winograd's method, which widens each byte once.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LAYOUT_WIDENBYTES_H
#define SINTER_BACKEND_CPU_LAYOUT_WIDENBYTES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/PatternLabels.h"

namespace sinter::cpu {

struct Target;

/// Rewrites all of \p function.
void widenBytes(mlir::func::FuncOp function, const Target &target,
                PatternRun &run);

llvm::ArrayRef<PatternInfo> widenBytesPatterns();

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LAYOUT_WIDENBYTES_H
