//===- HalfOperations.h - operations without f16 and bf16 instructions ----===//

#ifndef SINTER_BACKEND_CPU_CODEGEN_HALFOPERATIONS_H
#define SINTER_BACKEND_CPU_CODEGEN_HALFOPERATIONS_H

#include "llvm/IR/PassManager.h"

namespace sinter::cpu {

///   fcmp half %a, %b    ->  fcmp float (fpext %a), (fpext %b)
///   floor(half %a)      ->  fptrunc(floor(fpext %a))
///   fneg half %a        ->  bitcast(xor(bitcast %a, 0x8000))
///   select %c, half %a, half %b
///                       ->  bitcast(select %c, bitcast %a, bitcast %b)
///
/// Kernels compute in f32. LLVM's instcombine removes extensions where that
/// changes no result, which leaves operations that most CPUs lack: their
/// vectors are scalarised. (Instruction selection widens additions,
/// multiplications and divisions of f16 and bf16.)
struct WidenHalfOperations : llvm::PassInfoMixin<WidenHalfOperations> {
  static llvm::PreservedAnalyses run(llvm::Function &function,
                                     llvm::FunctionAnalysisManager &analyses);
};

/// Sets the vectorisation width of loops over f16 and bf16 to the f32 lanes of
/// a register, since they compute in f32. By default the vectoriser's cost
/// model takes their conversions for scalar calls.
///
/// Restrictions:
///   - Innermost loops; CPUs that convert vectors (F16C, AVX512-BF16).
///   - Loop-carried sums may be reassociated: with an explicit width the
///     vectoriser does not check.
struct VectorizeHalfLoops : llvm::PassInfoMixin<VectorizeHalfLoops> {
  /// \p lanes is the number of f32 in a register; types without vector
  /// conversions are left alone.
  VectorizeHalfLoops(unsigned lanes, bool convertsF16, bool convertsBF16)
      : lanes(lanes), convertsF16(convertsF16), convertsBF16(convertsBF16) {}
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &analyses) const;

private:
  unsigned lanes;
  bool convertsF16, convertsBF16;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_CODEGEN_HALFOPERATIONS_H
