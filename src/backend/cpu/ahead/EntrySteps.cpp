//===- EntrySteps.cpp - the steps of an entry point as code ---------------===//

#include "backend/cpu/ahead/EntryBuilder.h"
#include "backend/cpu/ahead/StepLines.h"
#include "runtime/StepThreads.h"

using namespace sinter;
using namespace sinter::cpu;

llvm::Value *EntryBuilder::inWorkspace(const PlanNumber &offset) {
  return offset.element ? builder.CreateInBoundsGEP(builder.getInt8Ty(),
                                                    workspace, planned(offset))
                        : at(workspace, static_cast<uint64_t>(offset.number));
}

/// Scratch memory of the first thread.
llvm::Value *EntryBuilder::scratch() {
  return plan ? inWorkspace(plan->scratchOffset)
              : at(workspace, layout.scratchOffset);
}

/// The memory of a step's \p buffer; of a dynamic program, of its slot.
llvm::Value *EntryBuilder::address(const BufferReference &buffer) {
  const BufferReference place = placeOf(program, buffer);
  switch (place.space) {
  case BufferSpace::Arena:
    return plan ? inWorkspace(plan->offsets[buffer.offset])
                : at(workspace, place.offset);
  case BufferSpace::Scratch:
    return scratch();
  case BufferSpace::Constant:
    return at(weights, *layout.constants[place.index] + place.offset);
  case BufferSpace::Input:
    return at(inputs[place.index], place.offset);
  case BufferSpace::Output:
    return at(outputs[place.index], place.offset);
  case BufferSpace::State:
    return at(state, layout.states[place.index].offset + place.offset);
  }
  llvm_unreachable("a space of BufferSpace");
}

Result<void> EntryBuilder::addSteps(llvm::ArrayRef<Step> steps, Sizes sizes) {
  for (size_t i = 0; i < steps.size();) {
    const size_t turns = sizes.empty() ? 0 : sizes[i].inTurns;
    Result<void> added =
        turns != 0 ? addTurns(steps.slice(i, turns), sizes.slice(i, turns))
                   : addStep(steps[i], sizes.empty() ? nullptr : &sizes[i]);
    if (!added)
      return added;
    i += std::max<size_t>(1, turns);
  }
  return {};
}

/// What is built from now on is code of \p step.
void EntryBuilder::locate(const Step &step) {
  if (request.lines)
    builder.SetCurrentDebugLocation(request.lines->locationOf(
        step, *builder.GetInsertBlock()->getParent()));
}

/// A loop over the rounds in which \p steps alternate.
Result<void> EntryBuilder::addTurns(llvm::ArrayRef<Step> steps, Sizes sizes) {
  llvm::Type *i64 = builder.getInt64Ty();
  llvm::Value *units = planned(plan->of(sizes[0]).units),
              *most = builder.getInt64(sizes[0].round.block);
  llvm::BasicBlock *before = builder.GetInsertBlock(), *head = block("round"),
                   *body = block("turn"), *after = block("rounds.end");
  locate(steps.front());
  builder.CreateBr(head);
  builder.SetInsertPoint(head);
  llvm::PHINode *first = builder.CreatePHI(i64, 2);
  first->addIncoming(builder.getInt64(0), before);
  builder.CreateCondBr(builder.CreateICmpULT(first, units), body, after);
  builder.SetInsertPoint(body);
  llvm::Value *left = builder.CreateSub(units, first);
  const Turn turn = {first, builder.CreateSelect(
                                builder.CreateICmpULT(left, most), left, most)};
  for (auto [step, own] : llvm::zip_equal(steps, sizes)) {
    if (step.kind != StepKind::Kernel)
      return systemError("layer '" + step.layer + "' has no rounds");
    locate(step);
    if (Result<void> added = addKernel(step, &own, &turn); !added)
      return added;
  }
  first->addIncoming(builder.CreateAdd(first, turn.count),
                     builder.GetInsertBlock());
  builder.CreateBr(head);
  builder.SetInsertPoint(after);
  return {};
}

Result<void> EntryBuilder::addStep(const Step &step, const DynamicStep *sizes) {
  locate(step);
  switch (step.kind) {
  case StepKind::Kernel:
    return addKernel(step, sizes, nullptr);
  case StepKind::Copy:
    addCopyOf(step);
    return {};
  case StepKind::If:
    return addIf(step, sizes);
  case StepKind::While:
    return addWhile(step, sizes);
  case StepKind::Concurrent:
    for (size_t i = 0; i < step.bodies.size(); ++i)
      if (Result<void> added = addSteps(
              step.bodies[i], sizes ? Sizes(sizes->bodies[i]) : Sizes());
          !added)
        return added;
    return {};
  case StepKind::HostCall:
    addHostCall(step);
    return {};
  case StepKind::Size:
    break;
  }
  return systemError("layer '" + step.layer + "' needs a runtime library");
}

void EntryBuilder::addCopyOf(const Step &step) {
  const BufferReference &from = step.buffers[0], &to = step.buffers[1];
  if (!plan)
    return copy(address(to), address(from), from.bytes);
  if (from.offset != to.offset)
    builder.CreateCall(copyFunction, {address(to), address(from),
                                      planned(plan->bytes[from.offset])});
}

/// Of a dynamic program: as of DynamicInstance::setWork().
Result<void> EntryBuilder::addKernel(const Step &step, const DynamicStep *sizes,
                                     const Turn *turn) {
  const std::string name =
      request.options.name + "." + request.kernels[step.kernel];
  llvm::Function *kernel = module.getFunction(name);
  if (!kernel || kernel->isDeclaration())
    return systemError("cannot link kernels: no function " + name);
  llvm::BasicBlock *after = nullptr;
  llvm::Value *first = builder.getInt64(step.firstTask),
              *tasks = builder.getInt64(step.tasks);
  if (sizes) {
    tasks = planned(plan->of(*sizes).tasks);
    if (turn) {
      first = builder.CreateAdd(first, builder.CreateMul(turn->first, tasks));
      tasks = builder.CreateMul(turn->count, tasks);
    }
    llvm::BasicBlock *call = block("kernel");
    after = block("kernel.end");
    builder.CreateCondBr(builder.CreateIsNotNull(tasks), call, after);
    builder.SetInsertPoint(call);
  }
  const auto pass = [&](llvm::Value *buffer, size_t i) {
    builder.CreateStore(
        buffer, builder.CreateConstInBoundsGEP1_64(pointer, buffers, i));
  };
  for (auto [i, buffer] : llvm::enumerate(step.buffers))
    pass(address(buffer), i);
  if (sizes && sizes->sizeCount != 0)
    pass(plan->tableOf(builder, *sizes, made), step.buffers.size());
  if (Result<void> added = addCall(step, sizes, kernel, first, tasks); !added)
    return added;
  if (after) {
    builder.CreateBr(after);
    builder.SetInsertPoint(after);
  }
  return {};
}

/// Calls \p kernel, whose buffers have been stored.
Result<void> EntryBuilder::addCall(const Step &step, const DynamicStep *sizes,
                                   llvm::Function *kernel, llvm::Value *first,
                                   llvm::Value *tasks) {
  if (!parallel) {
    builder.CreateCall(kernel,
                       {buffers, first, builder.CreateAdd(first, tasks)});
    return {};
  }
  std::optional<size_t> scratchSlot;
  for (auto [i, buffer] : llvm::enumerate(step.buffers))
    if (placeOf(program, buffer).space == BufferSpace::Scratch) {
      if (scratchSlot)
        return systemError("layer '" + step.layer +
                           "' has two scratch buffers");
      scratchSlot = i;
    }
  llvm::Type *size = module.getDataLayout().getIntPtrType(module.getContext());
  KernelCall call = {kernel,
                     buffers,
                     step.buffers.size() + (sizes && sizes->sizeCount != 0),
                     scratchSlot,
                     nullptr,
                     llvm::ConstantInt::get(size, layout.scratchBytes),
                     first,
                     tasks,
                     nullptr};
  call.scratch = scratch();
  if (sizes) {
    call.scratchStride = builder.CreateTrunc(planned(plan->scratchBytes), size);
    call.worthwhile = builder.CreateTrunc(
        builder.CreateBinaryIntrinsic(llvm::Intrinsic::umin, tasks,
                                      planned(plan->of(*sizes).worthwhile)),
        size);
  } else {
    call.worthwhile =
        llvm::ConstantInt::get(size, worthwhileThreads(step, mostThreads));
  }
  parallel->add(builder, call);
  return {};
}

/// Calls the library in the caller's float mode, and returns if that fails.
void EntryBuilder::addHostCall(const Step &step) {
  std::vector<llvm::Value *> addresses;
  for (const BufferReference &buffer : step.buffers)
    addresses.push_back(address(buffer));
  mode->restore(builder);
  llvm::Value *failed = calls->add(builder, step, addresses);
  returnIf(failed, BundleStatus::Failed);
  mode->set(builder);
}

Result<void> EntryBuilder::addIf(const Step &step, const DynamicStep *sizes) {
  const bool isFlag = step.selector == ElementType::I1;
  llvm::IntegerType *type = isFlag ? builder.getInt8Ty() : builder.getInt32Ty();
  llvm::Value *selector =
      builder.CreateAlignedLoad(type, address(step.buffers[0]), llvm::Align(1));
  // The last body is that of all other values; of a flag, that of 0.
  llvm::BasicBlock *after = block("endif");
  std::vector<llvm::BasicBlock *> entries;
  for (size_t i = 0; i < step.bodies.size(); ++i)
    entries.push_back(block("branch"));
  if (isFlag) {
    builder.CreateCondBr(builder.CreateIsNotNull(selector), entries[0],
                         entries[1]);
  } else {
    llvm::SwitchInst *choice =
        builder.CreateSwitch(selector, entries.back(), entries.size() - 1);
    for (size_t i = 0; i + 1 < entries.size(); ++i)
      choice->addCase(builder.getInt32(i), entries[i]);
  }
  for (size_t i = 0; i < entries.size(); ++i) {
    builder.SetInsertPoint(entries[i]);
    // A body for other sizes is not run.
    if (sizes) {
      llvm::BasicBlock *taken = block("taken");
      builder.CreateCondBr(
          builder.CreateIsNotNull(planned(plan->of(*sizes).fits[i])), taken,
          after);
      builder.SetInsertPoint(taken);
    }
    if (Result<void> added =
            addSteps(step.bodies[i], sizes ? Sizes(sizes->bodies[i]) : Sizes());
        !added)
      return added;
    locate(step);
    builder.CreateBr(after);
  }
  builder.SetInsertPoint(after);
  return {};
}

Result<void> EntryBuilder::addWhile(const Step &step,
                                    const DynamicStep *sizes) {
  const auto bodyOf = [&](size_t i) {
    return addSteps(step.bodies[i], sizes ? Sizes(sizes->bodies[i]) : Sizes());
  };
  llvm::BasicBlock *head = block("while"), *body = block("do"),
                   *after = block("done");
  builder.CreateBr(head);
  builder.SetInsertPoint(head);
  if (Result<void> added = bodyOf(0); !added)
    return added;
  locate(step);
  llvm::Value *goesOn = builder.CreateAlignedLoad(
      builder.getInt8Ty(), address(step.buffers[0]), llvm::Align(1));
  builder.CreateCondBr(builder.CreateIsNotNull(goesOn), body, after);
  builder.SetInsertPoint(body);
  if (Result<void> added = bodyOf(1); !added)
    return added;
  locate(step);
  builder.CreateBr(head);
  builder.SetInsertPoint(after);
  return {};
}
