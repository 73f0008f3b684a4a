//===- SizePlan.cpp - what follows from the sizes of a run, as code -------===//

#include "backend/cpu/ahead/SizePlan.h"

#include "backend/cpu/ahead/EntryAlloca.h"
#include "backend/cpu/ahead/ParallelTasks.h"
#include "runtime/StepThreads.h"

#include "llvm/IR/Module.h"

#include <algorithm>

using namespace sinter;
using namespace sinter::cpu;

SizePlan::SizePlan(llvm::Module &module, const std::string &name,
                   const Program &program, const DynamicLayout &layout,
                   bool isParallel)
    : isParallel(isParallel), module(module), program(program),
      dynamic(*program.dynamic), layout(layout), builder(module.getContext()),
      code(builder, dynamic) {
  llvm::Type *pointer = builder.getPtrTy();
  function = llvm::Function::Create(
      llvm::FunctionType::get(builder.getInt1Ty(), {pointer, pointer}, false),
      llvm::GlobalValue::InternalLinkage, name + ".plan", module);
  function->setDSOLocal(true);
  function->setDoesNotThrow();
  builder.SetInsertPoint(
      llvm::BasicBlock::Create(module.getContext(), "entry", function));
  build();
}

void SizePlan::build() {
  llvm::Type *i64 = builder.getInt64Ty();
  const llvm::Align alignment = module.getDataLayout().getABITypeAlign(i64);
  llvm::Value *given = function->getArg(0);
  plan = function->getArg(1);
  for (size_t i = 0; i < layout.parameters.size(); ++i)
    code.give(
        layout.parameters[i],
        builder.CreateAlignedLoad(
            i64, builder.CreateConstInBoundsGEP1_64(i64, given, i), alignment),
        layout.sizes[i].most);
  code.addFollowing();
  code.addGuards();
  addTable();
  const auto mostOf = [&](std::vector<uint64_t> DynamicLayout::Most::*tensors) {
    return layout.most ? llvm::ArrayRef<uint64_t>((*layout.most).*tensors)
                       : llvm::ArrayRef<uint64_t>();
  };
  addTensors(program.inputs, dynamic.inputs,
             mostOf(&DynamicLayout::Most::inputs), inputs);
  addTensors(program.outputs, dynamic.outputs,
             mostOf(&DynamicLayout::Most::outputs), outputs);
  isUsed.resize(dynamic.slots.size(), false);
  findUsed(program.steps);
  addSlots();
  addSteps(program.steps, dynamic.steps);
  builder.CreateRet(code.isBad());
}

/// What \p value is for callers of the function: an element of the plan, unless
/// it is constant.
PlanNumber SizePlan::add(llvm::Value *value) {
  if (const auto *constant = llvm::dyn_cast<llvm::ConstantInt>(value))
    return {constant->getSExtValue(), std::nullopt};
  builder.CreateStore(value, builder.CreateConstInBoundsGEP1_64(
                                 builder.getInt64Ty(), plan, elements));
  return {0, elements++};
}

/// Kernels read all of it, constants too. Values that are no sizes may be
/// negative.
void SizePlan::addTable() {
  for (const SizeExpression &size : dynamic.sizes) {
    llvm::Value *value =
        size.number() ? code.number(*size.number()) : code.sizeOf(size);
    builder.CreateStore(value, builder.CreateConstInBoundsGEP1_64(
                                   builder.getInt64Ty(), plan, elements++));
  }
}

/// \p bytes, which are refused where addresses have too few bits for them.
llvm::Value *SizePlan::bounded(llvm::Value *bytes) {
  const unsigned bits = module.getDataLayout().getPointerSizeInBits();
  const uint64_t most =
      bits < 64 ? (uint64_t(1) << (bits - 1)) - 1 : mostTensorBytes;
  code.refuseIf(builder.CreateICmpUGT(bytes, builder.getInt64(most)));
  return bytes;
}

void SizePlan::addTensors(llvm::ArrayRef<TensorSpec> specs,
                          llvm::ArrayRef<std::vector<SizeExpression>> sizes,
                          llvm::ArrayRef<uint64_t> most,
                          std::vector<TensorNumbers> &tensors) {
  for (size_t i = 0; i < specs.size(); ++i) {
    TensorNumbers &tensor = tensors.emplace_back();
    llvm::Value *bytes =
        code.number(static_cast<int64_t>(byteSize(specs[i].type)));
    for (const SizeExpression &size : sizes[i]) {
      llvm::Value *dimension = code.sizeOf(size);
      tensor.dimensions.push_back(add(dimension));
      bytes = code.productOf(bytes, dimension);
    }
    if (!most.empty())
      code.refuseIf(builder.CreateICmpUGT(bytes, builder.getInt64(most[i])));
    tensor.bytes = add(bounded(bytes));
  }
}

void SizePlan::findUsed(llvm::ArrayRef<Step> list) {
  for (const Step &step : list) {
    for (const BufferReference &buffer : step.buffers)
      isUsed[buffer.offset] = true;
    for (const std::vector<Step> &body : step.bodies)
      findUsed(body);
  }
}

/// The bytes of slots, and the arena in its order.
void SizePlan::addSlots() {
  const size_t count = dynamic.slots.size();
  offsets.resize(count);
  bytes.resize(count);
  slotBytes.assign(count, code.number(0));
  std::vector<llvm::Value *> starts(count, code.number(0));
  llvm::Value *arena = code.number(0), *scratch = code.number(0);
  for (size_t i = 0; i < count; ++i) {
    const DynamicSlot &slot = dynamic.slots[i];
    if (!isUsed[i])
      continue;
    slotBytes[i] = code.sizeOf(slot.bytes);
    if (slot.most != 0)
      slotBytes[i] = code.leastOf(slotBytes[i],
                                  code.number(static_cast<int64_t>(slot.most)));
    bytes[i] = add(bounded(slotBytes[i]));
    if (slot.space == BufferSpace::Scratch)
      scratch = code.greatestOf(scratch, slotBytes[i]);
  }
  for (const uint32_t slot : layout.order.slots) {
    for (const uint32_t other : layout.order.below[slot])
      starts[slot] = code.greatestOf(
          starts[slot],
          code.alignedUp(code.sumOf(starts[other], slotBytes[other])));
    if (isUsed[slot])
      offsets[slot] = add(starts[slot]);
    arena = code.greatestOf(arena, code.sumOf(starts[slot], slotBytes[slot]));
  }
  llvm::Value *begin = code.alignedUp(bounded(arena));
  scratchOffset = add(begin);
  scratch = code.alignedUp(scratch);
  scratchBytes = add(scratch);
  llvm::Value *whole = bounded(code.sumOf(begin, scratch));
  if (layout.most)
    code.refuseIf(builder.CreateICmpUGT(
        whole, builder.getInt64(layout.most->workspaceBytes)));
  workspaceBytes = add(whole);
}

/// As of StepThreads.h, in integers.
void SizePlan::addWorth(const Step &step, const DynamicStep &sizes) {
  const auto worth = [&](llvm::Value *work, double perThread) {
    const double units = std::clamp(perThread, 1.0, 0x1p62);
    return builder.CreateUDiv(work, code.number(static_cast<int64_t>(units)));
  };
  const double flops =
      sizes.flopsPerUnit * static_cast<double>(sizes.round.block);
  llvm::Value *threads = code.number(1);
  if (flops > 0)
    threads = code.greatestOf(
        threads, worth(code.sizeOf(sizes.units), flopsPerThread / flops));
  llvm::Value *moved = code.number(0);
  for (const BufferReference &buffer : step.buffers)
    if (dynamic.slots[buffer.offset].space != BufferSpace::Scratch)
      moved = code.sumOf(moved, slotBytes[buffer.offset]);
  threads = code.greatestOf(threads, worth(moved, bytesPerThread));
  steps[&sizes].worthwhile =
      add(code.leastOf(threads, code.number(mostThreads)));
}

/// The tasks of \p step, for \p units of a round.
void SizePlan::addTasks(const Step &step, const DynamicStep &sizes,
                        llvm::Value *units) {
  llvm::Value *tasks = code.number(1);
  for (const SizePart &part : sizes.tasks)
    tasks = code.productOf(tasks, code.partsOf(part));
  steps[&sizes].tasks = add(tasks);
  // Indices of tasks do not overflow.
  code.sumOf(code.productOf(tasks, units), code.number(step.firstTask));
}

void SizePlan::addSteps(llvm::ArrayRef<Step> list,
                        llvm::ArrayRef<DynamicStep> sizes) {
  size_t turns = 0;
  llvm::Value *units = nullptr;
  for (size_t i = 0; i < list.size(); ++i) {
    const Step &step = list[i];
    StepNumbers &numbers = steps[&sizes[i]];
    if (turns == 0) {
      units = code.number(1);
      if (sizes[i].inTurns != 0) {
        turns = sizes[i].inTurns;
        units = code.sizeOf(sizes[i].round.size);
        numbers.units = add(units);
      }
    }
    if (turns != 0)
      --turns;
    if (step.kind == StepKind::Kernel)
      addTasks(step, sizes[i], units);
    if (step.kind == StepKind::Kernel && isParallel)
      addWorth(step, sizes[i]);
    for (size_t body = 0; body < step.bodies.size(); ++body) {
      llvm::Value *fits = builder.getTrue();
      if (body < sizes[i].fits.size())
        for (const SizeExpression &size : sizes[i].fits[body])
          fits = builder.CreateAnd(fits, code.isZero(size));
      numbers.fits.push_back(
          add(builder.CreateZExt(fits, builder.getInt64Ty())));
      const SizeCode::Condition within(code, fits);
      addSteps(step.bodies[body], sizes[i].bodies[body]);
    }
  }
}

//===----------------------------------------------------------------------===//
// Use
//===----------------------------------------------------------------------===//

SizePlan::Made SizePlan::make(llvm::IRBuilder<> &at, llvm::Value *sizes) const {
  llvm::AllocaInst *made = allocaInEntry(
      at, llvm::ArrayType::get(at.getInt64Ty(), std::max(1u, elements)),
      "plan");
  return {made, at.CreateCall(function, {sizes, made})};
}

llvm::Value *SizePlan::load(llvm::IRBuilder<> &at, const PlanNumber &number,
                            llvm::Value *made) const {
  llvm::Type *i64 = at.getInt64Ty();
  if (!number.element)
    return at.getInt64(static_cast<uint64_t>(number.number));
  return at.CreateLoad(
      i64, at.CreateConstInBoundsGEP1_64(i64, made, *number.element));
}

llvm::Value *SizePlan::tableOf(llvm::IRBuilder<> &at, const DynamicStep &step,
                               llvm::Value *made) const {
  return at.CreateConstInBoundsGEP1_64(at.getInt64Ty(), made, step.firstSize);
}
