//===- HalfComparisons.h - comparisons of f16 and bf16 in f32 -------------===//

#ifndef SINTER_BACKEND_CPU_CODEGEN_HALFCOMPARISONS_H
#define SINTER_BACKEND_CPU_CODEGEN_HALFCOMPARISONS_H

#include "llvm/IR/PassManager.h"

namespace sinter::cpu {

///   fcmp half %a, %b  ->  fcmp float (fpext %a), (fpext %b)
///
/// Kernels compare in f32. LLVM's instcombine takes the extensions away, which
/// leaves comparisons that most machines lack: vectors of them are taken apart,
/// lane by lane.
struct WidenHalfComparisons : llvm::PassInfoMixin<WidenHalfComparisons> {
  static llvm::PreservedAnalyses run(llvm::Function &function,
                                     llvm::FunctionAnalysisManager &analyses);
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_CODEGEN_HALFCOMPARISONS_H
