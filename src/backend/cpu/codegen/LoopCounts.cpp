//===- LoopCounts.cpp - trip counts as branch weights ---------------------===//

#include "backend/cpu/codegen/LoopCounts.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace sinter::cpu;

/// LLVM's default trip count of an unknown loop.
static constexpr unsigned guess = 31;

llvm::PreservedAnalyses
TellLoopCounts::run(llvm::Function &function,
                    llvm::FunctionAnalysisManager &analyses) {
  auto &evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  for (llvm::Loop *loop :
       analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder()) {
    unsigned count = evolution.getSmallConstantTripCount(loop);
    if (count == 0) {
      const unsigned most = evolution.getSmallConstantMaxTripCount(loop);
      count = most < guess ? most : 0;
    }
    if (count != 0)
      llvm::setLoopEstimatedTripCount(loop, count,
                                      /*EstimatedLoopInvocationWeight=*/1);
  }
  return llvm::PreservedAnalyses::all();
}
