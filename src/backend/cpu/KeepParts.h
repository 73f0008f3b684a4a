//===- KeepParts.h - numbers between products on tiles stay in parts ------===//
//
//   %y = cpu.kernel(%x, %w) { f(product) }        : 128x3072xf32
//   %z = cpu.kernel(%y, %v) { g(product) }        : 128x768xf32
//     -> %y = cpu.kernel(%x, %w) { cut_parts(f(product)) } : Nxi8
//        %z = cpu.kernel(%y, %v) { g(product of join_parts) }
//
// Products on matrix units multiply parts of f32 numbers, into which they cut
// what they read. Where products alone read a value that another one has
// computed, that one cuts it as it stores it, and it lies in memory as they
// read it: pixels with as many zeros around them as any of the windows reads.
//
// Where sizes are open, how many bytes there are is a size of its own, whose
// name the module's table of sizes gets.
//
// Restrictions: two parts (tiles-split2, tiles-split3), since three would take
// half as much memory again; no other readers, for whom numbers would have lost
// eight bits; no reader that would take longer, by the estimates, since tiles
// of pixels with strides or zeros between them end where a row of results does
// (of open images none reads single pixels so); images as wide for all as for
// who stores them.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KEEPPARTS_H
#define SINTER_BACKEND_CPU_KEEPPARTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/PatternLabels.h"

namespace sinter::cpu {

struct Target;

/// Rewrites the kernels of \p function.
void keepParts(mlir::func::FuncOp function, const Target &target,
               PatternRun &run);

llvm::ArrayRef<PatternInfo> keepPartsPatterns();

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KEEPPARTS_H
