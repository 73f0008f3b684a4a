//===- KeepSplitOperands.h - keep bf16 split activations ------------------===//
//
//   %y = cpu.kernel(%x, %w) { f(product) }        : 128x3072xf32
//   %z = cpu.kernel(%y, %v) { g(product) }        : 128x768xf32
//     -> %y = cpu.kernel(%x, %w) { split_terms(f(product)) } : Nxi8
//        %z = cpu.kernel(%y, %v) { g(product of recombine_terms) }
//
// AMX matmuls and convolutions of f32 multiply bf16 terms, into which they
// split their operands. If only such kernels use the result of another one, or
// of attention on vectors, the producer stores it split, in the layout that
// they read: pixels with as much zero padding around them as any of the windows
// reads.
//
// An operand of several products that is not stored split is split once for all
// of them:
//
//   %a = cpu.kernel(%y, %v) { product }
//   %b = cpu.kernel(%y, %w) { product }
//     -> %p = cpu.kernel(%y) { split_terms(%y) }
//        %a = cpu.kernel(%p, %v) { product of recombine_terms }
//        %b = cpu.kernel(%p, %w) { product of recombine_terms }
//
// Where sizes are dynamic, how many bytes there are is a size of its own, whose
// name the module's table of sizes gets.
//
// Restrictions: two terms (tiles-split2, tiles-split3), since three would take
// half as much memory again; no user that would get slower, by the estimates,
// since tiles of pixels with strides or zeros between them end where a row of
// results does (of dynamic images none reads single pixels so). For results
// that are stored split: no other users, which would lose eight bits; all
// kernels have the same image width. For operands that are split once: users in
// one block, whose epilogues do not use the operand, too.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_FUSION_KEEPSPLITOPERANDS_H
#define SINTER_BACKEND_CPU_FUSION_KEEPSPLITOPERANDS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/PatternLabels.h"

namespace sinter::cpu {

struct Target;

/// Rewrites the kernels of \p function.
void keepSplitOperands(mlir::func::FuncOp function, const Target &target,
                       PatternRun &run);

llvm::ArrayRef<PatternInfo> keepSplitOperandsPatterns();

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_FUSION_KEEPSPLITOPERANDS_H
