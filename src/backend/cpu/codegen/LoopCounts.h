//===- LoopCounts.h - how often loops run, for the code generator ---------===//
//
//   loop of 256 steps:  br %more, %loop, %end
//     ->                br %more, %loop, %end, !prof 255 : 1
//
// What is not told of a loop is taken to run some thirty times, so that a loop
// in a loop over a tile's few rows counts for more than the reduction beside
// it, and what it reads has registers that the reduction's sums then lack.
//
// Restrictions: SCEV knows the count, or what it is at most if that is less
// than LLVM's guess.
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
