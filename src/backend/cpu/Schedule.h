//===- Schedule.h - from kernels to a program's steps ---------------------===//

#ifndef SINTER_BACKEND_CPU_SCHEDULE_H
#define SINTER_BACKEND_CPU_SCHEDULE_H

#include "backend/cpu/emit/KernelPlan.h"
#include "backend/cpu/ir/CpuOps.h"
#include "graph/Model.h"
#include "runtime/Program.h"

#include <memory>

namespace sinter::cpu {

/// A kernel that is compiled, and how it is called.
struct CompiledKernel {
  uint32_t entry = 0; ///< Of the first stage; the others follow.
  const KernelPlan *plan = nullptr;
  /// What its table has, if it has one: numbers, and names of open sizes. That
  /// of each stage, where these have code each.
  llvm::ArrayRef<std::vector<int64_t>> tables = {};

  llvm::ArrayRef<int64_t> table(size_t stage = 0) const {
    if (tables.empty())
      return {};
    return tables[std::min(stage, tables.size() - 1)];
  }
};
using KernelTable = llvm::DenseMap<mlir::Operation *, CompiledKernel>;

/// The name of the node in the user's file that \p location stands for; "" if
/// it has none.
std::string layerOf(mlir::Location location);

/// Fills in \p program's steps, constants and arena for the formed kernels of
/// \p model, which the program's constants keep alive where they share its
/// bytes.
Result<void> schedule(std::shared_ptr<Model> model, const KernelTable &kernels,
                      Program &program);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_SCHEDULE_H
