//===- KeepParts.h - numbers between products on tiles stay in parts ------===//
//
//   %y = cpu.kernel(%x, %w) { f(product) }        : 128x3072xf32
//   %z = cpu.kernel(%y, %v) { g(product) }        : 128x768xf32
//     -> %y = cpu.kernel(%x, %w) { cut_parts(f(product)) } : Nxi8
//        %z = cpu.kernel(%y, %v) { g(product of join_parts) }
//
// Products on matrix units multiply parts of f32 numbers, into which they cut
// what they read. Where products alone read a value that another one, or
// attention on vectors, has computed, that one cuts it as it stores it, and it
// lies in memory as they read it: pixels with as many zeros around them as any
// of the windows reads.
//
// What several products read and nobody stores so is cut once for all of them:
//
//   %a = cpu.kernel(%y, %v) { product }
//   %b = cpu.kernel(%y, %w) { product }
//     -> %p = cpu.kernel(%y) { cut_parts(%y) }
//        %a = cpu.kernel(%p, %v) { product of join_parts }
//        %b = cpu.kernel(%p, %w) { product of join_parts }
//
// Where sizes are open, how many bytes there are is a size of its own, whose
// name the module's table of sizes gets.
//
// Restrictions: two parts (tiles-split2, tiles-split3), since three would take
// half as much memory again; no reader that would take longer, by the
// estimates, since tiles of pixels with strides or zeros between them end where
// a row of results does (of open images none reads single pixels so). Of what
// is stored in parts, no other readers, for whom numbers would have lost eight
// bits; images as wide for all as for who stores them. Of what is cut once,
// readers in one block, as kernels whose epilogues do not read it, too.
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
