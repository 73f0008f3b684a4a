//===- FormKernels.h - which operations are computed together -------------===//
//
//   %a = stablehlo.exponential %x              %r = cpu.kernel(%x, %y) {
//   %b = stablehlo.add %a, %y            ->      exponential, add, reduce
//   %r = stablehlo.reduce(%b ...)                cpu.yield }
//
// Every operation goes into a kernel, except constants, control flow (whose
// regions are treated likewise) and what only renames memory (reshape). A
// producer joins its consumer's kernel where computing it in place costs no
// more than reading it back: if all its users are there and no element is
// computed often, if it costs next to nothing, or if it is a few cheap
// operations on one tensor that lies in memory anyway and is read in its place.
//
// Restrictions: shapes are static.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_FORMKERNELS_H
#define SINTER_BACKEND_CPU_FORMKERNELS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/PatternLabels.h"
#include "runtime/Result.h"

namespace sinter::cpu {

/// Rewrites the body of \p function. Fails with Unsupported, naming every
/// operation that has no code generator.
Result<void> formKernels(mlir::func::FuncOp function, PatternRun &run);

llvm::ArrayRef<PatternInfo> formKernelsPatterns();

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_FORMKERNELS_H
