//===- KernelPlanning.h - which code the kernels of a program run ---------===//
//
// Every fusion group of a function is a KernelOp. KernelOps that are equal but
// for the names of their layers are one distinct kernel. Distinct kernels that
// differ in constants alone share a source of code, which reads the constants
// from a table that each kernel has of its own (ShareCode.h):
//
//     KernelOp            distinct kernel      source of code
//     conv  64 ->  64  \
//     conv  64 ->  64   >  0  table [64, 64]  \
//     conv  64 -> 128  ->  1  table [64, 128]  >  kernel_a1b2, subroutine_c3
//     softmax          ->  2                  ->  kernel_d4e5
//
// The way there:
//
//     plan        each distinct kernel (emit/KernelPlan.h). What it may share,
//                 KernelPlan::sharing, decides on the next step.
//     candidates  what may share code: kernels of dynamic sizes or with
//                 subroutines, and those of static sizes if there are others
//                 with the same operations. All others have sources of their
//                 own, which nothing more need be known of.
//     templates   the code of candidates, of each separate stage by itself, as
//                 the generators write it.
//     forms       the text of a template, and its constants (CodeForm.h).
//                 Templates of one form are one source: a constant in which
//                 they differ has a place in the table.
//     subroutines what several sources call is a source, too; what one source
//                 calls stays in its code, which saves a module.
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
  /// One, or one a stage (KernelPlan::hasSeparateStages).
  std::vector<SourceUse> code = {};
  /// Of this kernel's functions, where the code may be another kernel's, too;
  /// else empty: they are the code's.
  std::vector<KernelContract> contracts = {};
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
