//===- KernelPlan.h - how a kernel is called ------------------------------===//
//
// What a program has to know of a kernel before the kernel's code is written:
// how its work is divided, which memory it needs, how its weights are packed.
//
// A task is a call of one of the kernel's functions with the number of the
// task. Tasks of one function are independent: they run in any order, on any
// threads. There are four ways to divide a kernel's work into tasks:
//
//                                 static sizes     dynamic sizes
//     tasks of one function       TaskLoop         DynamicTaskLoop
//     stages, a function each     Stages           DynamicStages
//
// "Static" are the sizes that the code takes for granted; a kernel of dynamic
// sizes with a static plan has no code (checkDynamic in KernelEmitter.h).
//
// The buffers of a function are, in this order,
//
//     inputs      without the one that is updated in place (cpu.kernel)
//     results
//     scratch     KernelPlan::scratch, if there is any: of each thread
//     workspace   Stages::workspace, if there is any: of all threads
//     table       if readsTable(): integers of 64 bits
//
// where stages of dynamic sizes have only those that they name, and the table.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_KERNELPLAN_H
#define SINTER_BACKEND_CPU_EMIT_KERNELPLAN_H

#include "backend/cpu/cost/Estimates.h"
#include "backend/cpu/kernels/common/TaskExtent.h"
#include "runtime/Tensor.h"

#include "llvm/ADT/StringRef.h"
#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace sinter::cpu {

/// Static sizes, one function.
struct TaskLoop {
  int64_t tasks = 1;
  double flops = 0; ///< Arithmetic operations of all tasks.
};

/// Dynamic sizes, one function. A run knows how many tasks there are.
struct DynamicTaskLoop {
  /// The number of tasks is their product; at least one.
  std::vector<TaskExtent> tasks;
  /// Arithmetic operations for each element of the first result, and for each
  /// of `depth`: a dynamic size, or 1.
  double flopsPerElement = 0;
  Dim depth = 1;
};

/// Memory that all tasks of a kernel share from its first stage to its last
/// one; no bytes: none.
struct Workspace {
  uint64_t bytes = 0;
  ElementType type = ElementType::I8; ///< As functions see it.
};

/// Static sizes, functions that run one after the other on the same buffers. A
/// stage begins when all tasks of the one before it are done.
struct Stages {
  /// Of one round.
  struct Stage {
    int64_t tasks = 1;
    double flops = 0;
  };
  std::vector<Stage> stages;
  /// How often all stages run: round r of a stage has its function's tasks from
  /// r * Stage::tasks on.
  int64_t rounds = 1;
  Workspace workspace = {};
};

/// Dynamic sizes, functions that run one after the other, in rounds, on a
/// number of equal units of work: images, say. Each round takes unitsOfRound
/// units through all stages, the last round the rest of them.
struct DynamicStages {
  /// Of one unit. Unit u has its function's tasks from u * tasks on.
  struct Stage {
    int64_t tasks = 1;
    double flops = 0;
    /// The buffers of the function, as numbers of the kernel's, but for the
    /// table. Kernels may share the code of a stage, so that it has no buffer
    /// that it does not need.
    std::vector<unsigned> buffers = {};
  };
  std::vector<Stage> stages;
  std::vector<TaskExtent> units; ///< Their number is the product.
  int64_t unitsOfRound = 1;
  Workspace workspace = {}; ///< Of one unit: a round has as many of them.
};

using KernelWork =
    std::variant<TaskLoop, DynamicTaskLoop, Stages, DynamicStages>;

/// Memory of a thread, in which tasks find nothing and leave nothing:
/// bytes + size * bytesEach.
struct Scratch {
  uint64_t bytes = 0;
  ElementType type = ElementType::I8; ///< As a RootKernel's functions see it.
  Dim size = 0;                       ///< Dynamic, where bytesEach is not 0.
  uint64_t bytesEach = 0;

  bool isDynamic() const { return bytesEach != 0; }
  bool isNone() const { return bytes == 0 && !isDynamic(); }
};

/// A form of a constant input that the kernel reads instead of the input, in a
/// buffer of the input's element type.
struct Packing {
  uint64_t bytes;
  std::function<void(const Tensor &weight, std::byte *packed)> pack;
};

/// What a kernel's code can share with other kernels of the program
/// (program/ShareCode.h); each includes what is above it.
enum class CodeSharing {
  None,
  /// Subroutines that it calls.
  Subroutines,
  /// All of it, where the numbers in the code are the same, and only sizes of
  /// buffers differ, or dynamic sizes.
  SameNumbers,
  /// All of it: numbers that differ are read from the table, which takes no
  /// longer.
  AnyNumbers
};

struct KernelPlan {
  std::string name; ///< How it is computed: "loops", "matmul".
  /// What could compute it, the best first; empty where nothing is chosen.
  Alternatives alternatives;
  KernelWork work;
  Scratch scratch;
  std::map<unsigned, Packing> packings; ///< By the number of the input.
  CodeSharing sharing = CodeSharing::None;

  bool isDynamic() const {
    return std::holds_alternative<DynamicTaskLoop>(work) || hasSeparateStages();
  }
  /// Whether each stage is code by itself, which kernels share or not.
  bool hasSeparateStages() const {
    return std::holds_alternative<DynamicStages>(work);
  }
  bool readsTable() const {
    return isDynamic() || sharing == CodeSharing::AnyNumbers;
  }
  /// How many functions it has.
  size_t functions() const;
  /// How many tasks the contract of function \p number allows: all of static
  /// sizes. Those of dynamic sizes follow when they are known.
  int64_t tasksOf(size_t number) const;
  /// No bytes where there is none.
  Workspace workspace() const;
};

/// The function of one stage of the kernel \p name.
std::string stageName(llvm::StringRef name, size_t stage);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_KERNELPLAN_H
