//===- KernelTable.h - the compiled kernels of a program ------------------===//

#ifndef SINTER_BACKEND_CPU_PROGRAM_KERNELTABLE_H
#define SINTER_BACKEND_CPU_PROGRAM_KERNELTABLE_H

#include "backend/cpu/codegen/CodeForm.h"
#include "backend/cpu/emit/KernelPlan.h"
#include "backend/cpu/ir/CpuOps.h"

namespace sinter::cpu {

/// A kernel that is compiled, and how it is called.
struct CompiledKernel {
  uint32_t entry = 0; ///< Of the first stage; the others follow.
  const KernelPlan *plan = nullptr;
  /// Its table of sizes, if it reads one: constants, and names of dynamic
  /// dimensions. One per stage where stages are separate.
  llvm::ArrayRef<std::vector<FormNumber>> tables = {};

  llvm::ArrayRef<FormNumber> table(size_t stage = 0) const {
    if (tables.empty())
      return {};
    return tables[std::min(stage, tables.size() - 1)];
  }
};

/// By KernelOp.
using KernelTable = llvm::DenseMap<mlir::Operation *, CompiledKernel>;

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_PROGRAM_KERNELTABLE_H
