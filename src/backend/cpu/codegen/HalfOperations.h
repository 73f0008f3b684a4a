//===- HalfOperations.h - what f16 and bf16 have no instructions for ------===//

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
/// Kernels compute in f32. LLVM's instcombine takes the extensions away where
/// that changes no result, which leaves operations that most machines lack:
/// vectors of them are taken apart, lane by lane. (Sums, products and quotients
/// of f16 and bf16 are widened as code is selected.)
struct WidenHalfOperations : llvm::PassInfoMixin<WidenHalfOperations> {
  static llvm::PreservedAnalyses run(llvm::Function &function,
                                     llvm::FunctionAnalysisManager &analyses);
};

/// Says how many elements of loops over f16 and bf16 the vectoriser is to take
/// at once: as many as a register has of f32, in which they are computed. By
/// itself it takes conversions from and to them for calls, an element each.
///
/// Restrictions:
///   - Innermost loops; machines that convert vectors (F16C, AVX512-BF16).
///   - Sums that are carried from one round to the next may be reassociated:
///     the vectoriser asks nobody where it is told a width.
struct VectorizeHalfLoops : llvm::PassInfoMixin<VectorizeHalfLoops> {
  /// \p lanes are the f32 of a register; of types that are not converted in
  /// vectors nothing is said.
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
