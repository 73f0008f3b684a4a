//===- Schedule.cpp - from kernels to a program's steps -------------------===//

#include "backend/cpu/program/Schedule.h"

#include "backend/cpu/fusion/GroupLoops.h"
#include "backend/cpu/ir/LayerName.h"
#include "backend/cpu/ir/OperationKind.h"
#include "backend/cpu/program/Scheduler.h"
#include "graph/Constants.h"
#include "graph/Types.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

static TensorSpec specOf(Value value) {
  RankedTensorType type = tensorOf(value);
  return {"", *elementTypeOf(type.getElementType()), type.getShape().vec()};
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

Result<void> Scheduler::run() {
  Result<Storage> storage = Storage::of(*model);
  if (!storage)
    return storage.takeError();
  Block &body = model->entry().front();
  addInputs(*storage, body);
  if (Result<void> done = addStates(*storage, body); !done)
    return done;
  claimResults(*storage, body);
  if (Result<void> done = scheduleBlock(body, program.steps); !done)
    return done;
  if (Result<void> done = copyResults(*storage, body); !done)
    return done;
  return finish();
}

void Scheduler::addInputs(const Storage &storage, Block &body) {
  for (auto [i, number] : llvm::enumerate(storage.inputs())) {
    BlockArgument argument = body.getArgument(number);
    slots.assign(argument, slots.add(BufferSpace::Input, i, argument));
    if (dynamic)
      dynamic->addInput(argument);
  }
}

Result<void> Scheduler::addStates(const Storage &storage, Block &body) {
  for (const StateTensor &state : storage.states())
    if (Result<void> added = addState(body, state); !added)
      return added;
  return {};
}

/// A buffer for a state, and the constant that it starts with.
Result<void> Scheduler::addState(Block &body, const StateTensor &state) {
  std::optional<Tensor> initial = toTensor(state.initial);
  if (!initial)
    return unsupported("state '" + state.spec.name +
                       "' has no readable initial value");
  states.push_back(
      plan.add(BufferSpace::State, program.states.size(), initial->bytes()));
  slots.assign(body.getArgument(state.argument), states.back());
  program.states.push_back({state.spec, constants.ofModel(*initial)});
  return {};
}

/// Lets results be computed in the memory of outputs and states.
void Scheduler::claimResults(const Storage &storage, Block &body) {
  OperandRange returned = body.getTerminator()->getOperands();
  for (auto [i, number] : llvm::enumerate(storage.outputs())) {
    Value result = returned[number];
    outputs.push_back(slots.add(BufferSpace::Output, i, result));
    if (dynamic)
      dynamic->addOutput(result);
    slots.claim(result, body, outputs.back());
  }
  for (auto [state, slot] : llvm::zip_equal(storage.states(), states)) {
    const StringRef reason = slots.claimUpdate(
        returned[state.result], body.getArgument(state.argument), slot);
    if (!reason.empty())
      copyOf[slot] =
          ("copy of state '" + Twine(state.spec.name) + "', " + reason).str();
  }
}

Result<void> Scheduler::copyResults(const Storage &storage, Block &body) {
  OperandRange returned = body.getTerminator()->getOperands();
  for (auto [number, slot] : llvm::zip_equal(storage.outputs(), outputs))
    if (Result<void> done = copy(returned[number], slot, program.steps); !done)
      return done;
  SmallVector<Value> saved;
  for (const StateTensor &state : storage.states())
    saved.push_back(returned[state.result]);
  return carry(saved, states, program.steps);
}

Result<void> Scheduler::finish() {
  if (dynamic) {
    Result<DynamicProgram> finished = dynamic->finish(plan);
    if (!finished)
      return finished.takeError();
    program.dynamic =
        std::make_shared<const DynamicProgram>(std::move(*finished));
    return {};
  }
  program.arenaBytes = plan.place();
  resolve(program.steps);
  return {};
}

void Scheduler::resolve(std::vector<Step> &steps) {
  for (Step &step : steps) {
    for (BufferReference &buffer : step.buffers) {
      const MemorySlot &slot = plan[static_cast<Id>(buffer.offset)];
      buffer.space = slot.space;
      buffer.index = slot.index;
      buffer.offset = slot.offset;
      buffer.bytes = slot.bytes;
    }
    for (std::vector<Step> &body : step.bodies)
      resolve(body);
  }
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

BufferReference Scheduler::reference(Id slot, BufferAccess access) {
  plan.touch(slot);
  BufferReference buffer;
  buffer.access = access;
  buffer.offset = slot;
  return buffer;
}

Result<void> Scheduler::copy(Value from, Id to, std::vector<Step> &steps) {
  Result<Id> source = slots.find(from);
  if (!source)
    return source.takeError();
  copySlot(*source, to, steps);
  return {};
}

void Scheduler::copySlot(Id from, Id to, std::vector<Step> &steps) {
  if (from == to)
    return;
  Step step;
  step.kind = StepKind::Copy;
  auto known = copyOf.find(to);
  step.op = known == copyOf.end() ? "copy" : known->second;
  step.buffers = {reference(from, BufferAccess::In),
                  reference(to, BufferAccess::Out)};
  step.bytesMoved = 2.0 * plan[from].bytes;
  if (dynamic)
    dynamic->addCopy();
  add(std::move(step), steps);
}

/// Moves \p values to where the next iteration of a loop, or the next run of
/// the program, expects them. What is itself carried is saved before it is
/// overwritten.
Result<void> Scheduler::carry(ArrayRef<Value> values, ArrayRef<Id> carried,
                              std::vector<Step> &steps) {
  SmallVector<std::pair<Id, Id>> moves;
  for (auto [value, slot] : llvm::zip_equal(values, carried)) {
    Result<Id> source = slots.find(value);
    if (!source)
      return source.takeError();
    if (*source == slot)
      continue;
    if (llvm::is_contained(carried, *source)) {
      Id saved = slots.add(BufferSpace::Arena, 0, value);
      copySlot(*source, saved, steps);
      moves.push_back({saved, slot});
    } else {
      moves.push_back({*source, slot});
    }
  }
  for (auto [from, to] : moves)
    copySlot(from, to, steps);
  return {};
}

Result<void> Scheduler::scheduleBlock(Block &block, std::vector<Step> &steps) {
  slots.claimOperands(block);
  // Loops that are scheduled with an earlier one.
  llvm::SmallPtrSet<Operation *, 4> scheduled;
  for (Operation &op : block) {
    Result<void> done = {};
    if (auto kernel = dyn_cast<KernelOp>(op)) {
      done = scheduleKernel(kernel, steps);
    } else if (auto loop = dyn_cast<stablehlo::WhileOp>(op)) {
      if (scheduled.contains(loop))
        continue;
      const SmallVector<stablehlo::WhileOp> loops = loopsBeside(loop);
      scheduled.insert(loops.begin(), loops.end());
      done = scheduleLoops(loops, steps);
    } else if (auto call = dyn_cast<HostCallOp>(op)) {
      done = scheduleHostCall(call, steps);
    } else if (auto sizes = dyn_cast<DefineSizesOp>(op)) {
      done = scheduleSizes(sizes, steps);
    } else if (isControlFlow(&op)) {
      done = scheduleBranches(&op, steps);
    }
    if (!done)
      return done;
  }
  return {};
}

Result<void> Scheduler::scheduleHostCall(HostCallOp op,
                                         std::vector<Step> &steps) {
  Step step;
  step.kind = StepKind::HostCall;
  step.hostFunction = op.getFunction().str();
  step.configuration = op.getConfiguration().str();
  step.op = step.hostFunction;
  step.layer = layerOf(op.getLoc());
  DynamicStep dynamicStep;
  auto addTensor = [&](Value value, Id slot, BufferAccess access) {
    step.buffers.push_back(reference(slot, access));
    step.bytesMoved += plan[slot].bytes;
    if (dynamic)
      dynamicStep.tensors.push_back(dynamic->sizesOf(value));
    step.tensors.push_back(specOf(value));
  };
  for (Value input : op.getInputs()) {
    Result<Id> slot = slots.find(input);
    if (!slot)
      return slot.takeError();
    addTensor(input, *slot, BufferAccess::In);
  }
  for (Value result : op.getResults())
    addTensor(result, slots.create(result), BufferAccess::Out);
  if (dynamic)
    dynamic->addStep(std::move(dynamicStep));
  add(std::move(step), steps);
  return {};
}

/// The step that reads values which dimensions of later steps follow from.
Result<void> Scheduler::scheduleSizes(DefineSizesOp op,
                                      std::vector<Step> &steps) {
  if (!dynamic->isOutermost())
    return unsupported("'" + layerOf(op.getLoc()) +
                       "': sizes that are computed in a branch or a loop");
  Result<Id> values = slots.find(op.getNumbers());
  if (!values)
    return values.takeError();
  Step step;
  step.kind = StepKind::Size;
  step.op = "define_sizes";
  step.layer = layerOf(op.getLoc());
  step.buffers = {reference(*values, BufferAccess::In)};
  step.tensors = {specOf(op.getNumbers())};
  DynamicStep dynamicStep;
  for (auto [element, parameter] :
       llvm::zip_equal(op.getElements(), op.getParameters()))
    dynamicStep.defines.push_back({static_cast<uint32_t>(parameter), element});
  dynamic->addStep(std::move(dynamicStep));
  add(std::move(step), steps);
  return {};
}

Result<void> cpu::schedule(std::shared_ptr<Model> model,
                           const KernelTable &kernels,
                           ConstantScope *constantScope, Program &program) {
  return Scheduler(std::move(model), kernels, constantScope, program).run();
}
