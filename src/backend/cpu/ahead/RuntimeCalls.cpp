//===- RuntimeCalls.cpp - calls of the runtime library, as code -----------===//

#include "backend/cpu/ahead/RuntimeCalls.h"

#include "backend/cpu/ahead/EntryAlloca.h"
#include "runtime/HostFunctions.h"

#include "llvm/IR/Module.h"

#include <array>

using namespace sinter;
using namespace sinter::cpu;

bool cpu::isFunctionOfItsOwn(const std::string &name) {
  static constexpr std::array<std::string_view, 6> names = {
      "sinter.fft", "sinter.cholesky",          "sinter.triangular_solve",
      "sinter.rng", "sinter.rng_bit_generator", "sinter.non_zero"};
  return llvm::is_contained(names, name) ||
         (name.starts_with("lapack_") && findHostFunction(name));
}

size_t cpu::mostTensorsOfCalls(llvm::ArrayRef<Step> steps) {
  size_t most = 0;
  for (const Step &step : steps) {
    if (step.kind == StepKind::HostCall)
      most = std::max<size_t>({most, step.tensors.size(), 1});
    for (const std::vector<Step> &body : step.bodies)
      most = std::max(most, mostTensorsOfCalls(body));
  }
  return most;
}

RuntimeCalls::RuntimeCalls(llvm::IRBuilder<> &builder, size_t mostTensors) {
  const llvm::DataLayout &layout =
      builder.GetInsertBlock()->getModule()->getDataLayout();
  llvm::Type *size = layout.getIntPtrType(builder.getContext()),
             *pointer = builder.getPtrTy();
  // sinter_runtime_tensor and sinter_runtime_call.
  tensorType = llvm::StructType::get(builder.getContext(),
                                     {pointer, size, pointer, pointer});
  callType = llvm::StructType::get(
      builder.getContext(),
      {size, pointer, pointer, pointer, size, size, pointer});
  tensors = allocaInEntry(
      builder, llvm::ArrayType::get(tensorType, mostTensors), "tensors");
  call = allocaInEntry(builder, callType, "call");
  auto *words = llvm::ArrayType::get(builder.getInt64Ty(), 2);
  random = allocaInEntry(builder, words, "random");
  // Each run draws the same numbers.
  builder.CreateStore(llvm::Constant::getNullValue(words), random);
}

llvm::Value *RuntimeCalls::add(llvm::IRBuilder<> &builder, const Step &step,
                               llvm::ArrayRef<llvm::Value *> addresses) {
  llvm::Module &module = *builder.GetInsertBlock()->getModule();
  llvm::Type *size = module.getDataLayout().getIntPtrType(module.getContext());
  const auto number = [&](uint64_t value) {
    return llvm::ConstantInt::get(size, value);
  };
  const auto constant = [&](llvm::Constant *value) {
    auto *variable = new llvm::GlobalVariable(
        module, value->getType(), /*isConstant=*/true,
        llvm::GlobalValue::PrivateLinkage, value, "call");
    variable->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    return variable;
  };
  const auto text = [&](llvm::StringRef value) {
    return constant(
        llvm::ConstantDataArray::getString(module.getContext(), value));
  };
  const auto store = [&](llvm::StructType *type, llvm::Value *at,
                         llvm::ArrayRef<llvm::Value *> fields) {
    for (auto [i, field] : llvm::enumerate(fields))
      builder.CreateStore(field, builder.CreateStructGEP(type, at, i));
  };
  size_t inputs = 0;
  // Inputs come before outputs.
  for (auto [i, tensor] : llvm::enumerate(step.tensors)) {
    inputs += step.buffers[i].access == BufferAccess::In;
    llvm::SmallVector<uint64_t> shape(tensor.shape.begin(), tensor.shape.end());
    store(tensorType,
          builder.CreateConstInBoundsGEP1_64(tensorType, tensors, i),
          {text(name(tensor.type)), number(shape.size()),
           constant(llvm::ConstantDataArray::get(module.getContext(), shape)),
           addresses[i]});
  }
  store(callType, call,
        {number(module.getDataLayout().getTypeAllocSize(callType)),
         text(step.hostFunction), text(step.configuration), tensors,
         number(inputs), number(step.tensors.size() - inputs), random});
  llvm::FunctionCallee function = module.getOrInsertFunction(
      "sinter_call_runtime",
      llvm::FunctionType::get(builder.getInt32Ty(), {builder.getPtrTy()},
                              false));
  return builder.CreateIsNotNull(builder.CreateCall(function, {call}));
}
