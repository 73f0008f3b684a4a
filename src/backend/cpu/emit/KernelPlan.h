//===- KernelPlan.h - how a kernel wants to be called ---------------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_KERNELPLAN_H
#define SINTER_BACKEND_CPU_EMIT_KERNELPLAN_H

#include "backend/cpu/cost/Estimates.h"
#include "backend/cpu/kernels/common/TaskExtent.h"
#include "runtime/Tensor.h"

#include "llvm/ADT/StringRef.h"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sinter::cpu {

/// Bytes of scratch for each of a named size.
struct ScratchExtent {
  Dim size = 0;
  uint64_t bytesEach = 0;
};

/// How a kernel wants to be called. Its buffers are the inputs in order
/// (without the one that is updated in place), the results in order, and
/// scratch where scratchBytes is not 0.
struct KernelPlan {
  int64_t tasks = 1;
  double flops = 0;
  uint64_t scratchBytes = 0;
  /// What scratch has besides, where that follows from a named size.
  std::optional<ScratchExtent> dynamicScratch;
  /// What a RootKernel's scratch or workspace holds; other kernels get
  /// bytes.
  ElementType scratchType = ElementType::I8;
  /// Where sizes are named: what `tasks` are the product of, of which the work
  /// is `flops` for each element of the first result, and more for each of
  /// `depth` (a named size; 1 for none).
  std::vector<TaskExtent> taskExtents;
  Dim depth = 1;
  std::string name; ///< How it is computed: "loops", "matmul".
  /// Of a product: what could compute it, the fastest first.
  Alternatives alternatives;

  /// Parts that run one after the other, each a function of its own (see
  /// stageName), on the same buffers or some of them; empty where there is one.
  /// Then `tasks` does not count, and one more buffer, behind the others, lives
  /// from the first part to the last.
  struct Stage {
    int64_t tasks;
    double flops;
    /// Which of the kernel's buffers its function has, in that order, but for
    /// the table of sizes, which is behind them. Such stages have their code by
    /// themselves, where sizes are named, and share it with those of other
    /// kernels. Empty: all.
    std::vector<unsigned> buffers = {};
  };
  std::vector<Stage> stages;
  /// Where sizes are named: the product of how many units the stages do, and
  /// how many of them in a round. What is said of tasks, of work and of the
  /// workspace is of one unit then.
  struct Units {
    std::vector<TaskExtent> parts;
    int64_t ofRound = 1;
  };
  std::optional<Units> units;
  /// How often the stages are gone through, each time with the next `tasks` of
  /// their functions' tasks.
  int64_t rounds = 1;
  uint64_t workspaceBytes = 0;

  /// The input that result 0 is, with some elements replaced: the result's
  /// memory holds it when the kernel is called.
  std::optional<unsigned> updated;

  /// An input that is a constant and wanted in another form, in a buffer of the
  /// input's own elements.
  struct Packing {
    uint64_t bytes;
    std::function<void(const Tensor &weight, std::byte *packed)> pack;
  };
  /// One an input.
  std::vector<std::optional<Packing>> packings;
  /// Whether code for known sizes reads numbers from a table, which is one more
  /// buffer behind the others.
  bool readsTable = false;
  /// Whether code for dynamic sizes takes longer where it reads from a table
  /// how far rows are apart.
  bool needsDistances = false;
  /// Whether code for known sizes calls subroutines that others may call, too.
  bool hasSubroutines = false;

  /// Whether each stage has some of the buffers, and code by itself.
  bool cutsStages() const {
    return !stages.empty() && !stages[0].buffers.empty();
  }
};

/// The function of one stage of the kernel \p name.
inline std::string stageName(llvm::StringRef name, size_t stage) {
  return stage == 0 ? name.str() : (name + "." + llvm::Twine(stage)).str();
}

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_KERNELPLAN_H
