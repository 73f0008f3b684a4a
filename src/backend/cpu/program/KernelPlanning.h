//===- KernelPlanning.h - which code the kernels of a program run ---------===//
//
// Every fusion group of a function is a KernelOp. Layers of the same shape have
// the same kernel, which is compiled once. Kernels that differ in sizes alone
// share code, which reads the sizes from a table that each kernel has of its
// own (ShareCode.h):
//
//     KernelOp            distinct kernel      source of code
//     conv  64 ->  64  \
//     conv  64 ->  64   >  0  table [64, 64]  \
//     conv  64 -> 128  ->  1  table [64, 128]  >  kernel_a1b2, subroutine_c3
//     softmax          ->  2                  ->  kernel_d4e5
//
// Subroutines that several sources call are sources, too.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_PROGRAM_KERNELPLANNING_H
#define SINTER_BACKEND_CPU_PROGRAM_KERNELPLANNING_H

#include "backend/cpu/emit/KernelPlan.h"
#include "backend/cpu/program/KernelCompilation.h"
#include "backend/cpu/program/KernelTable.h"
#include "llvm/ADT/StringSet.h"

namespace sinter::cpu {

/// Kernels that are the same but for the names of their layers.
struct DistinctKernel {
  KernelPlan plan;
  /// Its code, as indices into PlannedKernels::sources: one, or one a stage
  /// (KernelPlan::hasSeparateStages).
  std::vector<size_t> sources = {};
  /// Of shared code: the contracts of this kernel's functions, and the table
  /// of each source (SharedCode::tables).
  std::vector<KernelContract> contracts = {};
  std::vector<std::vector<FormNumber>> tables = {};
};

/// The kernels of a program, and the sources of their code.
struct PlannedKernels {
  std::vector<DistinctKernel> distinct;
  std::vector<KernelSource> sources;
  /// The symbols of all functions, which Step::kernel indexes.
  std::vector<std::string> symbols;
  KernelTable table;

  /// The contracts of all functions, in the order of `symbols`; \p code is that
  /// of each source.
  std::vector<KernelContract>
  contractsOf(llvm::ArrayRef<KernelCode> code) const;
};

/// Plans the kernels of \p function. `options.onChoice` is called for each that
/// had alternatives. Errors: Unsupported for kernels of dynamic sizes whose
/// code needs static ones.
Result<PlannedKernels> planKernels(mlir::func::FuncOp function,
                                   const Target &target,
                                   const KernelCache &cache,
                                   const CpuOptions &options,
                                   CodeContexts &contexts);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_PROGRAM_KERNELPLANNING_H
