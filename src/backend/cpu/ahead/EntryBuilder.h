//===- EntryBuilder.h - builds the C functions of an entry point ----------===//

#ifndef SINTER_BACKEND_CPU_AHEAD_ENTRYBUILDER_H
#define SINTER_BACKEND_CPU_AHEAD_ENTRYBUILDER_H

#include "backend/cpu/ahead/EntryRequest.h"
#include "backend/cpu/ahead/FloatModeCode.h"
#include "backend/cpu/ahead/ParallelTasks.h"
#include "backend/cpu/ahead/RuntimeCalls.h"
#include "backend/cpu/ahead/SizeFunctions.h"
#include "backend/cpu/ahead/SizePlan.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace sinter::cpu {

/// Builds the functions of one bundle.
class EntryBuilder {
public:
  EntryBuilder(llvm::Module &module, const EntryRequest &request)
      : module(module), request(request), program(request.program),
        layout(request.layout), builder(module.getContext()),
        pointer(builder.getPtrTy()), triple(module.getTargetTriple()),
        prefix(request.name) {}

  /// What all entry points of a bundle share.
  struct Shared {
    llvm::Value *weights = nullptr;
    llvm::Function *copy = nullptr;
    const char *weightsHeader = nullptr;
  };

  /// Adds that; called for the first entry point only.
  Shared buildShared() {
    prefix = request.options.name;
    addWeights();
    addCopy();
    shared = {weights, copyFunction, layout.weights.data()};
    addStateInit();
    return shared;
  }

  /// Adds the functions of the entry point.
  Result<void> build(const Shared &with) {
    shared = with;
    weights = shared.weights;
    copyFunction = shared.copy;
    if (layout.dynamic) {
      plan.emplace(module, prefix, program, *layout.dynamic,
                   request.options.isParallel);
      addSizeFunctions(module, prefix, *plan);
    } else {
      addWorkspaceSize();
    }
    return addRun();
  }

private:
  /// Units of a round: the first one, and how many.
  struct Turn {
    llvm::Value *first, *count;
  };

  // Functions.
  void addWeights();
  void addCopy();
  void addWorkspaceSize();
  void addStateInit();
  Result<void> addRun();
  void makePlan(llvm::Value *sizes);
  llvm::Function *addFunction(const char *suffix, llvm::Type *result,
                              llvm::ArrayRef<llvm::Type *> arguments);

  // Checks of what the caller passes.
  void checkPointer(llvm::Value *address, uint64_t alignment,
                    llvm::Value *bytes = nullptr);
  using TensorNumbers = std::vector<SizePlan::TensorNumbers>;
  std::vector<llvm::Value *> loadPointers(llvm::Value *table,
                                          llvm::ArrayRef<BundleTensor> tensors,
                                          TensorNumbers SizePlan::*numbers);
  void checkWeights(llvm::Value *base);
  void returnIf(llvm::Value *isWrong, BundleStatus status);
  void finishChecks();

  // Steps.
  /// Of a dynamic program each step has its sizes; of a static one, none has.
  using Sizes = llvm::ArrayRef<DynamicStep>;
  Result<void> addSteps(llvm::ArrayRef<Step> steps, Sizes sizes);
  void locate(const Step &step);
  Result<void> addTurns(llvm::ArrayRef<Step> steps, Sizes sizes);
  Result<void> addStep(const Step &step, const DynamicStep *sizes);
  Result<void> addKernel(const Step &step, const DynamicStep *sizes,
                         const Turn *turn);
  Result<void> addCall(const Step &step, const DynamicStep *sizes,
                       llvm::Function *kernel, llvm::Value *first,
                       llvm::Value *tasks);
  void addHostCall(const Step &step);
  Result<void> addIf(const Step &step, const DynamicStep *sizes);
  Result<void> addWhile(const Step &step, const DynamicStep *sizes);
  void addCopyOf(const Step &step);
  llvm::Value *address(const BufferReference &buffer);
  llvm::Value *scratch();
  llvm::Value *inWorkspace(const PlanNumber &offset);
  llvm::Value *planned(const PlanNumber &number) {
    return plan->load(builder, number, made);
  }
  llvm::Value *at(llvm::Value *base, uint64_t offset) {
    return offset == 0 ? base
                       : builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(),
                                                            base, offset);
  }
  llvm::BasicBlock *block(const char *name) {
    return llvm::BasicBlock::Create(module.getContext(), name,
                                    builder.GetInsertBlock()->getParent());
  }
  void copy(llvm::Value *to, llvm::Value *from, uint64_t bytes) {
    if (bytes != 0)
      builder.CreateCall(copyFunction, {to, from, builder.getInt64(bytes)});
  }

  llvm::Module &module;
  const EntryRequest &request;
  const Program &program;
  const BundleLayout &layout;
  llvm::IRBuilder<> builder;
  llvm::PointerType *pointer;
  llvm::Triple triple;
  /// What the names of functions begin with.
  std::string prefix;
  Shared shared;
  llvm::Function *copyFunction = nullptr;
  /// Of a dynamic program.
  std::optional<SizePlan> plan;

  /// Of the function that is being built: what its arguments are.
  llvm::Value *weights = nullptr, *state = nullptr, *workspace = nullptr;
  /// What the plan has for the sizes of the caller.
  llvm::Value *made = nullptr;
  std::vector<llvm::Value *> inputs, outputs;
  /// The addresses of a kernel's buffers, for all kernels.
  llvm::Value *buffers = nullptr;
  std::optional<FloatModeCode> mode;
  /// Where the steps have host calls.
  std::optional<RuntimeCalls> calls;
  /// With BundleOptions::isParallel.
  std::optional<ParallelTasks> parallel;
  /// Whether a pointer is null, and the low bits that should be 0.
  llvm::Value *anyNull = nullptr, *lowBits = nullptr;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_AHEAD_ENTRYBUILDER_H
