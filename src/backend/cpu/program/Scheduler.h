//===- Scheduler.h - writes the steps of a program ------------------------===//

#ifndef SINTER_BACKEND_CPU_PROGRAM_SCHEDULER_H
#define SINTER_BACKEND_CPU_PROGRAM_SCHEDULER_H

#include "backend/cpu/program/BufferAssignment.h"
#include "backend/cpu/program/KernelTable.h"
#include "graph/Model.h"
#include "graph/storage/Storage.h"
#include "runtime/Program.h"

namespace sinter::cpu {

/// Writes the steps of a program. A buffer of a step is a slot of the memory
/// plan, whose number stands in BufferReference::offset: in a dynamic program
/// for good, in a static one until resolve() puts the memory there.
class Scheduler {
public:
  Scheduler(std::shared_ptr<Model> model, const KernelTable &kernels,
            ConstantScope *constantScope, Program &program)
      : model(std::move(model)), kernels(kernels), program(program),
        constants(this->model, constantScope, program),
        dynamic(dynamicOf(*this->model)),
        slots(kernels, constants, dynamic.get()), plan(slots.plan) {}

  Result<void> run();

private:
  using Id = MemoryPlan::Id;

  static std::unique_ptr<DynamicSchedule> dynamicOf(const Model &model) {
    std::optional<SizeTable> sizes = SizeTable::of(model.module());
    return sizes ? std::make_unique<DynamicSchedule>(std::move(*sizes))
                 : nullptr;
  }

  void addInputs(const Storage &storage, mlir::Block &body);
  Result<void> addStates(const Storage &storage, mlir::Block &body);
  Result<void> addState(mlir::Block &body, const StateTensor &state);
  void claimResults(const Storage &storage, mlir::Block &body);
  Result<void> copyResults(const Storage &storage, mlir::Block &body);
  Result<void> finish();

  Result<void> scheduleBlock(mlir::Block &block, std::vector<Step> &steps);
  Result<void> scheduleKernel(KernelOp op, std::vector<Step> &steps);
  Result<void> addOperands(Step &step, KernelOp op, const KernelPlan &how);
  Result<void> addWorkMemory(Step &step, KernelOp op,
                             const CompiledKernel &compiled);
  void addWork(Step step, const KernelWork &work, std::vector<Step> &steps);
  Result<void> scheduleHostCall(HostCallOp op, std::vector<Step> &steps);
  Result<void> scheduleSizes(DefineSizesOp op, std::vector<Step> &steps);
  /// Lets \p schedule add steps to a new body, whose dynamic half is one of
  /// \p step.
  Result<void> inBody(DynamicStep &step,
                      llvm::function_ref<Result<void>()> schedule);
  Result<void> scheduleBranches(mlir::Operation *op, std::vector<Step> &steps);
  Result<void> scheduleBranch(mlir::Block &block, llvm::ArrayRef<Id> results,
                              std::vector<Step> &steps);
  Result<void> scheduleLoops(llvm::ArrayRef<stablehlo::WhileOp> loops,
                             std::vector<Step> &steps);
  Result<void> scheduleLoop(stablehlo::WhileOp op, std::vector<Step> &steps);

  void add(Step step, std::vector<Step> &steps) {
    steps.push_back(std::move(step));
    plan.tick();
  }
  Result<void> copy(mlir::Value from, Id to, std::vector<Step> &steps);
  void copySlot(Id from, Id to, std::vector<Step> &steps);
  Result<void> carry(llvm::ArrayRef<mlir::Value> values,
                     llvm::ArrayRef<Id> carried, std::vector<Step> &steps);
  Result<Id> input(mlir::Value value, const Packing *packing);
  Id addTable(llvm::ArrayRef<FormNumber> table);
  BufferReference reference(Id slot, BufferAccess access);
  void resolve(std::vector<Step> &steps);

  std::shared_ptr<Model> model;
  const KernelTable &kernels;
  Program &program;
  ProgramConstants constants;
  /// Null for a static program.
  std::unique_ptr<DynamicSchedule> dynamic;
  BufferAssignment slots;
  MemoryPlan &plan;
  llvm::SmallVector<Id> outputs, states;
  /// Why states are copied: the name of the step that copies to a slot.
  llvm::DenseMap<Id, std::string> copyOf;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_PROGRAM_SCHEDULER_H
