//===- InlineCalls.h - functions go where they are called -----------------===//
//
//   x = call @f(a)          x = add(a, a)
//   f(b): add(b, b)    ->
//
// Restrictions: a callee has one block and does not call itself; 100,000 calls
// at most are replaced, since calls of calls multiply.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_INLINECALLS_H
#define SINTER_PASSES_INLINECALLS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "passes/PatternLabels.h"
#include "runtime/Result.h"

namespace sinter {

/// Replaces the calls in \p function, in its regions, in the decompositions of
/// composites there, and in the code inlined for them. The callees stay.
/// Errors: Unsupported, with the callee, where a restriction does not hold;
/// InvalidModel where there is none.
Result<void> inlineCalls(mlir::func::FuncOp function);

/// Inlines the calls in the entry function, as far as possible.
std::unique_ptr<mlir::Pass>
createInlineCalls(std::shared_ptr<PatternRun> run = nullptr);
llvm::ArrayRef<PatternInfo> inlineCallsPatterns();

} // namespace sinter

#endif // SINTER_PASSES_INLINECALLS_H
