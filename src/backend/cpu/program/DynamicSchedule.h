//===- DynamicSchedule.h - how a program's steps follow from sizes --------===//
//
// A program of dynamic shape has, beside each of its steps, a DynamicStep
// (runtime/DynamicProgram.h) whose numbers are expressions over the symbolic
// dimensions, and beside each slot of memory its bytes as an expression:
//
//     step 0   kernel, tasks 1          tasks  [ceil(N / 6)]
//     slot 3   arena, 0 bytes           bytes  4 * N * 64
//
// The runtime evaluates them whenever the sizes of a run change.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_PROGRAM_DYNAMICSCHEDULE_H
#define SINTER_BACKEND_CPU_PROGRAM_DYNAMICSCHEDULE_H

#include "backend/cpu/program/KernelTable.h"
#include "backend/cpu/program/MemoryPlan.h"
#include "backend/cpu/shapes/SizeTable.h"
#include "runtime/DynamicProgram.h"

#include <map>

namespace sinter::cpu {

/// The dynamic half of a program. Steps are added in the order of the static
/// half; inside of control flow, to the body that enter() names. Errors are
/// Unsupported: an expression with too many terms.
class DynamicSchedule {
public:
  explicit DynamicSchedule(SizeTable table) : sizes(std::move(table)) {}
  // `steps` points into it.
  DynamicSchedule(const DynamicSchedule &) = delete;
  DynamicSchedule &operator=(const DynamicSchedule &) = delete;

  void addInput(mlir::Value value) { program.inputs.push_back(sizesOf(value)); }
  void addOutput(mlir::Value value) {
    program.outputs.push_back(sizesOf(value));
  }
  /// The slot \p id holds \p value, whose dimensions are dynamic.
  void addSlot(MemoryPlan::Id id, mlir::Value value) {
    valueSlots.push_back({id, value});
  }
  /// The slot \p id is the workspace of \p stages.
  Result<void> addWorkspace(MemoryPlan::Id id, const DynamicStages &stages);
  /// The slot \p id is \p scratch of \p op.
  Result<void> addScratch(MemoryPlan::Id id, KernelOp op,
                          const Scratch &scratch);

  void addStep(DynamicStep step) { steps->push_back(std::move(step)); }
  void addCopy() { steps->emplace_back().tasks = {{1, 1}}; }
  /// The steps of \p op: one per stage, and per round of known sizes.
  Result<void> addKernel(KernelOp op, const CompiledKernel &compiled);

  /// Adds steps to \p body from now on. Returns where they went before.
  std::vector<DynamicStep> *enter(std::vector<DynamicStep> *body) {
    return std::exchange(steps, body);
  }
  /// Whether steps are those of the program, not of a body.
  bool isOutermost() const { return steps == &program.steps; }

  std::vector<SizeExpression> sizesOf(mlir::Value value) const;
  /// By how much each result of the branch that ends with \p end is larger than
  /// that of \p op: zero if the branch may be taken.
  std::vector<SizeExpression> differencesOf(mlir::Operation *op,
                                            mlir::Operation *end) const;
  /// Whether the dimensions of \p value are known as soon as those of \p memory
  /// are, of which it is an alias.
  bool isKnownWith(mlir::Value value, mlir::Value memory) const;

  /// The whole, with the slots of \p plan.
  Result<DynamicProgram> finish(const MemoryPlan &plan);

private:
  /// Memory of a kernel; at most `most` bytes, if that is not 0.
  struct Workspace {
    MemoryPlan::Id slot;
    SizeExpression bytes;
    uint64_t most;
  };

  Result<SizeExpression> unitsOf(const DynamicStages &stages);
  void addStatic(int64_t tasks, double flops);
  Result<void> addLoop(const DynamicTaskLoop &loop, KernelOp op,
                       llvm::ArrayRef<FormNumber> table);
  Result<void> addStages(const DynamicStages &stages,
                         const CompiledKernel &compiled);
  void setTable(DynamicStep &step, llvm::ArrayRef<FormNumber> table);

  SizeTable sizes;
  DynamicProgram program;
  std::vector<DynamicStep> *steps = &program.steps;
  std::vector<std::pair<MemoryPlan::Id, mlir::Value>> valueSlots;
  std::vector<Workspace> workspaces;
  /// The index of a kernel's table in `program.sizes`.
  std::map<std::vector<FormNumber>, uint32_t> tables;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_PROGRAM_DYNAMICSCHEDULE_H
