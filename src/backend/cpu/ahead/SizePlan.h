//===- SizePlan.h - what follows from the sizes of a run, as code ---------===//
//
// The functions of a dynamic program begin with a call of one that computes all
// that follows from the sizes of the caller, into an array of 64-bit integers
// on the stack, the plan:
//
//     | table of sizes | offsets of slots | tasks of steps | bytes | ...
//
// The first part is what kernels read. The plan is made before anything else
// is: sizes that the program is not for, or with which something would
// overflow, have no effect.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_AHEAD_SIZEPLAN_H
#define SINTER_BACKEND_CPU_AHEAD_SIZEPLAN_H

#include "backend/cpu/ahead/DynamicLayout.h"
#include "backend/cpu/ahead/SizeCode.h"

#include <map>

namespace llvm {
class Module;
} // namespace llvm

namespace sinter::cpu {

/// A number that is known when the code is made, or an element of the plan.
struct PlanNumber {
  int64_t number = 0;
  std::optional<uint32_t> element;
};

class SizePlan {
public:
  /// Adds the function that makes the plan of \p program to \p module; \p name
  /// begins its name.
  SizePlan(llvm::Module &module, const std::string &name,
           const Program &program, const DynamicLayout &layout,
           bool isParallel);

  /// The numbers of a step; those of its bodies have their own.
  struct StepNumbers {
    /// The number of tasks, and, of the first step of a round, of units.
    PlanNumber tasks, units;
    /// The threads that a kernel is worth, if there may be several.
    PlanNumber worthwhile;
    /// If: whether each body may be taken: 0 or 1.
    std::vector<PlanNumber> fits;
  };
  /// \p step is one of the program's.
  const StepNumbers &of(const DynamicStep &step) const {
    return steps.at(&step);
  }
  /// Of a tensor of the interface: its dimensions and its bytes.
  struct TensorNumbers {
    std::vector<PlanNumber> dimensions;
    PlanNumber bytes;
  };
  std::vector<TensorNumbers> inputs, outputs;
  /// By slot: the offset in the arena, and the bytes.
  std::vector<PlanNumber> offsets, bytes;
  /// The workspace is that of one thread.
  PlanNumber scratchOffset, scratchBytes, workspaceBytes;
  const bool isParallel;

  /// The plan of a function, and what the caller's sizes are.
  struct Made {
    llvm::Value *plan = nullptr;
    /// An i1.
    llvm::Value *isBad = nullptr;
  };
  /// Code in a function that makes the plan for \p sizes, which is not null.
  Made make(llvm::IRBuilder<> &builder, llvm::Value *sizes) const;
  /// An i64 in that function.
  llvm::Value *load(llvm::IRBuilder<> &builder, const PlanNumber &number,
                    llvm::Value *plan) const;
  /// Where the table of sizes of \p step begins.
  llvm::Value *tableOf(llvm::IRBuilder<> &builder, const DynamicStep &step,
                       llvm::Value *plan) const;

private:
  void build();
  PlanNumber add(llvm::Value *value);
  void addTable();
  void addTensors(llvm::ArrayRef<TensorSpec> specs,
                  llvm::ArrayRef<std::vector<SizeExpression>> sizes,
                  llvm::ArrayRef<uint64_t> most,
                  std::vector<TensorNumbers> &tensors);
  void findUsed(llvm::ArrayRef<Step> list);
  void addSlots();
  void addSteps(llvm::ArrayRef<Step> list, llvm::ArrayRef<DynamicStep> sizes);
  void addWorth(const Step &step, const DynamicStep &sizes);
  void addTasks(const Step &step, const DynamicStep &sizes, llvm::Value *units);
  llvm::Value *bounded(llvm::Value *bytes);

  llvm::Module &module;
  const Program &program;
  const DynamicProgram &dynamic;
  const DynamicLayout &layout;
  llvm::IRBuilder<> builder;
  SizeCode code;
  llvm::Function *function = nullptr;
  llvm::Value *plan = nullptr;
  uint32_t elements = 0;
  std::vector<bool> isUsed;
  /// The bytes of slots.
  std::vector<llvm::Value *> slotBytes;
  std::map<const DynamicStep *, StepNumbers> steps;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_AHEAD_SIZEPLAN_H
