//===- LoopCounts.h - trip counts as branch weights -----------------------===//
//
//   loop of 256 steps:  br %more, %loop, %end
//     ->                br %more, %loop, %end, !prof 255 : 1
//
// LLVM assumes about thirty trips for a loop without profile data. A loop
// nested in one over a register tile's few rows would then weigh more than the
// reduction next to it, and take registers from the reduction's accumulators.
//
// Restrictions: SCEV computes the trip count, or an upper bound below LLVM's
// guess.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_CODEGEN_LOOPCOUNTS_H
#define SINTER_BACKEND_CPU_CODEGEN_LOOPCOUNTS_H

#include "llvm/IR/PassManager.h"

namespace sinter::cpu {

class TellLoopCounts : public llvm::PassInfoMixin<TellLoopCounts> {
public:
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &analyses);
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_CODEGEN_LOOPCOUNTS_H
