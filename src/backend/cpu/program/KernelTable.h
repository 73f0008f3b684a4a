//===- KernelTable.h - the compiled kernels of a program ------------------===//

#ifndef SINTER_BACKEND_CPU_PROGRAM_KERNELTABLE_H
#define SINTER_BACKEND_CPU_PROGRAM_KERNELTABLE_H

#include "backend/cpu/codegen/CodeForm.h"
#include "backend/cpu/emit/KernelPlan.h"
#include "backend/cpu/ir/CpuOps.h"

namespace sinter::cpu {

/// Code that a kernel runs, and the table that it reads there, if it reads one:
/// constants, and entries of dynamic sizes.
struct SourceUse {
  size_t source; ///< The number in PlannedKernels::sources.
  std::vector<FormNumber> table = {};
};

/// A kernel that is compiled, and how it is called.
struct CompiledKernel {
  uint32_t entry = 0; ///< Of the first function; the others follow.
  const KernelPlan *plan = nullptr;
  llvm::ArrayRef<SourceUse> code = {}; ///< As DistinctKernel::code.

  llvm::ArrayRef<FormNumber> table(size_t stage = 0) const {
    return code[plan->hasSeparateStages() ? stage : 0].table;
  }
};

/// By KernelOp.
using KernelTable = llvm::DenseMap<mlir::Operation *, CompiledKernel>;

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_PROGRAM_KERNELTABLE_H
