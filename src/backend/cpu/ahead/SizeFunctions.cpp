//===- SizeFunctions.cpp - the sizes of a bundle's memory, as C functions -===//

#include "backend/cpu/ahead/SizeFunctions.h"

#include "backend/cpu/ahead/ParallelTasks.h"

#include "llvm/IR/Module.h"

using namespace sinter;
using namespace sinter::cpu;

namespace {

class SizeFunctionBuilder {
public:
  SizeFunctionBuilder(llvm::Module &module, const std::string &name,
                      const SizePlan &plan)
      : module(module), name(name), plan(plan), builder(module.getContext()),
        size(module.getDataLayout().getIntPtrType(module.getContext())),
        noSize(llvm::ConstantInt::getSigned(size, -1)) {}

  void addWorkspaceSize() {
    std::vector<llvm::Type *> threads;
    if (plan.isParallel)
      threads.push_back(size);
    begin("_workspace_size", size, threads, noSize, noSize);
    if (!plan.isParallel)
      return returnSize(plan.workspaceBytes);
    builder.CreateRet(ParallelTasks::workspaceSize(builder, function->getArg(1),
                                                   bytesOf(plan.workspaceBytes),
                                                   bytesOf(plan.scratchBytes)));
  }

  using Tensors = std::vector<SizePlan::TensorNumbers>;

  void addSize(const char *suffix, const Tensors &tensors) {
    begin(suffix, size, {builder.getInt32Ty()}, noSize, noSize);
    choose(tensors, noSize, [&](const SizePlan::TensorNumbers &tensor) {
      returnSize(tensor.bytes);
    });
  }

  void addShape(const char *suffix, const Tensors &tensors) {
    begin(suffix, builder.getInt32Ty(),
          {builder.getInt32Ty(), builder.getPtrTy()},
          status(BundleStatus::NullPointer), status(BundleStatus::BadSizes));
    choose(tensors, status(BundleStatus::BadSizes),
           [&](const SizePlan::TensorNumbers &tensor) {
             for (auto [i, dimension] : llvm::enumerate(tensor.dimensions))
               builder.CreateStore(
                   plan.load(builder, dimension, made),
                   builder.CreateConstInBoundsGEP1_64(builder.getInt64Ty(),
                                                      function->getArg(2), i));
             builder.CreateRet(status(BundleStatus::Done));
           });
  }

private:
  llvm::Value *status(BundleStatus value) {
    return builder.getInt32(static_cast<uint32_t>(value));
  }
  llvm::BasicBlock *block(const char *text) {
    return llvm::BasicBlock::Create(module.getContext(), text, function);
  }
  llvm::Value *bytesOf(const PlanNumber &bytes) {
    return builder.CreateTrunc(plan.load(builder, bytes, made), size);
  }
  void returnSize(const PlanNumber &bytes) {
    builder.CreateRet(bytesOf(bytes));
  }

  /// A function of the sizes and what is in \p others. It returns \p null if a
  /// pointer is null, and \p bad for bad sizes; after that, its plan is made.
  void begin(const char *suffix, llvm::Type *result,
             llvm::ArrayRef<llvm::Type *> others, llvm::Value *null,
             llvm::Value *bad) {
    std::vector<llvm::Type *> types = {builder.getPtrTy()};
    types.insert(types.end(), others.begin(), others.end());
    function = llvm::Function::Create(
        llvm::FunctionType::get(result, types, false),
        llvm::GlobalValue::ExternalLinkage, name + suffix, module);
    function->setDSOLocal(true);
    function->setDoesNotThrow();
    builder.SetInsertPoint(block("entry"));
    llvm::Value *isNull = builder.getFalse();
    for (llvm::Argument &argument : function->args())
      if (argument.getType()->isPointerTy())
        isNull = builder.CreateOr(isNull, builder.CreateIsNull(&argument));
    returnIf(isNull, null);
    const SizePlan::Made whole = plan.make(builder, function->getArg(0));
    made = whole.plan;
    returnIf(whole.isBad, bad);
  }

  void returnIf(llvm::Value *isWrong, llvm::Value *value) {
    llvm::BasicBlock *wrong = block("wrong"), *good = block("good");
    builder.CreateCondBr(isWrong, wrong, good);
    builder.SetInsertPoint(wrong);
    builder.CreateRet(value);
    builder.SetInsertPoint(good);
  }

  /// Ends the function with what \p finish adds for each tensor, by the number
  /// that is the second argument; others return \p none.
  void
  choose(const Tensors &tensors, llvm::Value *none,
         llvm::function_ref<void(const SizePlan::TensorNumbers &)> finish) {
    llvm::BasicBlock *other = block("other");
    llvm::SwitchInst *choice = builder.CreateSwitch(
        function->getArg(1), other, static_cast<unsigned>(tensors.size()));
    builder.SetInsertPoint(other);
    builder.CreateRet(none);
    for (auto [i, tensor] : llvm::enumerate(tensors)) {
      llvm::BasicBlock *own = block("tensor");
      choice->addCase(builder.getInt32(static_cast<uint32_t>(i)), own);
      builder.SetInsertPoint(own);
      finish(tensor);
    }
  }

  llvm::Module &module;
  const std::string &name;
  const SizePlan &plan;
  llvm::IRBuilder<> builder;
  llvm::IntegerType *size;
  llvm::Value *noSize;
  llvm::Function *function = nullptr;
  llvm::Value *made = nullptr;
};

} // namespace

void cpu::addSizeFunctions(llvm::Module &module, const std::string &name,
                           const SizePlan &plan) {
  SizeFunctionBuilder functions(module, name, plan);
  functions.addWorkspaceSize();
  functions.addShape("_input_shape", plan.inputs);
  functions.addSize("_input_size", plan.inputs);
  functions.addShape("_output_shape", plan.outputs);
  functions.addSize("_output_size", plan.outputs);
}
