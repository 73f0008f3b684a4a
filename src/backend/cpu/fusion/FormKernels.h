//===- FormKernels.h - form fusion groups ---------------------------------===//
//
//   %a = stablehlo.exponential %x              %r = cpu.kernel(%x, %y) {
//   %b = stablehlo.add %a, %y            ->      exponential, add, reduce
//   %r = stablehlo.reduce(%b ...)                cpu.yield }
//
// Every operation goes into a kernel, except constants, control flow (whose
// regions are treated likewise) and aliases (reshape). A producer is fused into
// its consumer's kernel where recomputing it costs no more than loading it: if
// all its users are there and no element is computed repeatedly, if it is
// nearly free, or if it is a few cheap operations on one tensor that is in
// memory anyway and is loaded instead.
//
// Restrictions: shapes are static.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_FUSION_FORMKERNELS_H
#define SINTER_BACKEND_CPU_FUSION_FORMKERNELS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/PatternLabels.h"
#include "runtime/Result.h"

namespace sinter::cpu {

/// Rewrites the body of \p function. Fails with Unsupported and a list of all
/// operations without a code generator.
Result<void> formKernels(mlir::func::FuncOp function, PatternRun &run);

llvm::ArrayRef<PatternInfo> formKernelsPatterns();

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_FUSION_FORMKERNELS_H
