//===- Schedule.cpp - from kernels to a program's steps -------------------===//

#include "backend/cpu/program/Schedule.h"

#include "backend/cpu/emit/RootKernels.h"
#include "backend/cpu/fusion/GroupLoops.h"
#include "backend/cpu/ir/LayerName.h"
#include "backend/cpu/ir/OperationKind.h"
#include "backend/cpu/kernels/conv/Winograd.h"
#include "backend/cpu/program/BufferAssignment.h"
#include "graph/Constants.h"
#include "graph/Types.h"
#include "graph/storage/Storage.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// Whose ceiling the arithmetic of \p kernel has.
static ElementType arithmeticOf(KernelOp kernel, StringRef name) {
  Operation *heavy = kernel.rootOp();
  for (Operation &op : kernel.getBody().front())
    if (isRoot(&op))
      heavy = &op;
  if (!heavy)
    return ElementType::F32;
  const Type sums = getElementTypeOrSelf(heavy->getResult(0).getType());
  if (isRoot(heavy) && isa<IntegerType>(sums))
    return ElementType::I8;
  // Channel by channel and by Winograd's method f32 is multiplied.
  const auto factor = [&](unsigned i) {
    return getElementTypeOrSelf(heavy->getOperand(i));
  };
  if (isa<LowBitProductOp, cpu::ConvolutionOp>(heavy) && factor(0).isBF16() &&
      factor(1).isBF16() && !Winograd::formOf(name))
    return ElementType::BF16;
  return sums.isF64() ? ElementType::F64 : ElementType::F32;
}

/// "convolution+add+maximum": the operations of \p op, each once.
static std::string describe(KernelOp op) {
  std::string text;
  llvm::StringSet<> seen;
  for (Operation &inner : op.getBody().front()) {
    StringRef name = inner.getName().stripDialect();
    if (isa<stablehlo::ConstantOp, stablehlo::BroadcastInDimOp, YieldOp>(
            inner) ||
        !seen.insert(name).second)
      continue;
    text += (text.empty() ? "" : "+") + name.str();
  }
  return text.empty() ? "fill" : text;
}

static TensorSpec specOf(Value value) {
  RankedTensorType type = tensorOf(value);
  return {"", *elementTypeOf(type.getElementType()), type.getShape().vec()};
}

namespace {

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

  void addInputs(const Storage &storage, Block &body);
  Result<void> addStates(const Storage &storage, Block &body);
  Result<void> addState(Block &body, const StateTensor &state);
  void claimResults(const Storage &storage, Block &body);
  Result<void> copyResults(const Storage &storage, Block &body);
  Result<void> finish();

  Result<void> scheduleBlock(Block &block, std::vector<Step> &steps);
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
  Result<void> scheduleBranches(Operation *op, std::vector<Step> &steps);
  Result<void> scheduleBranch(Block &block, ArrayRef<Id> results,
                              std::vector<Step> &steps);
  Result<void> scheduleLoops(ArrayRef<stablehlo::WhileOp> loops,
                             std::vector<Step> &steps);
  Result<void> scheduleLoop(stablehlo::WhileOp op, std::vector<Step> &steps);

  void add(Step step, std::vector<Step> &steps) {
    steps.push_back(std::move(step));
    plan.tick();
  }
  Result<void> copy(Value from, Id to, std::vector<Step> &steps);
  void copySlot(Id from, Id to, std::vector<Step> &steps);
  Result<void> carry(ArrayRef<Value> values, ArrayRef<Id> carried,
                     std::vector<Step> &steps);
  Result<Id> input(Value value, const Packing *packing);
  Id addTable(ArrayRef<FormNumber> table);
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
  SmallVector<Id> outputs, states;
  /// Why states are copied: the name of the step that copies to a slot.
  DenseMap<Id, std::string> copyOf;
};

} // namespace

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

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// The slot of a kernel's input, packed if \p packing is not null.
Result<Scheduler::Id> Scheduler::input(Value value, const Packing *packing) {
  if (!packing)
    return slots.find(value);
  Result<uint32_t> index = constants.indexOf(memoryOf(value), packing);
  if (!index)
    return index.takeError();
  return plan.add(BufferSpace::Constant, *index, packing->bytes);
}

/// The constant that is the table of a kernel of static sizes; it has one
/// element at least.
Scheduler::Id Scheduler::addTable(ArrayRef<FormNumber> table) {
  Tensor values(ElementType::I64,
                {std::max<int64_t>(1, int64_t(table.size()))});
  llvm::transform(table, values.mutableValues<int64_t>().begin(),
                  [](const FormNumber &each) { return each.number; });
  return plan.add(BufferSpace::Constant, constants.owned(values),
                  values.bytes());
}

Result<void> Scheduler::addOperands(Step &step, KernelOp op,
                                    const KernelPlan &how) {
  for (auto [i, value] : llvm::enumerate(op.getInputs())) {
    if (i == op.getUpdated())
      continue;
    const auto packing = how.packings.find(unsigned(i));
    Result<Id> slot = input(
        value, packing == how.packings.end() ? nullptr : &packing->second);
    if (!slot)
      return slot.takeError();
    step.buffers.push_back(reference(*slot, BufferAccess::In));
    step.bytesMoved += plan[*slot].bytes;
  }
  for (OpResult result : op.getResults()) {
    Id slot = slots.create(result);
    step.buffers.push_back(
        reference(slot, op.getUpdated() && result.getResultNumber() == 0
                            ? BufferAccess::InOut
                            : BufferAccess::Out));
    step.bytesMoved += plan[slot].bytes;
  }
  return {};
}

/// Scratch memory of each thread, the workspace of all threads, and the table
/// of static kernels; runs add that of dynamic ones.
Result<void> Scheduler::addWorkMemory(Step &step, KernelOp op,
                                      const CompiledKernel &compiled) {
  const KernelPlan &how = *compiled.plan;
  if (const Scratch &scratch = how.scratch; !scratch.isNone()) {
    const Id slot = plan.add(BufferSpace::Scratch, 0, scratch.bytes);
    if (scratch.isDynamic())
      if (Result<void> done = dynamic->addScratch(slot, op, scratch); !done)
        return done;
    step.buffers.push_back(reference(slot, BufferAccess::InOut));
  }
  if (const uint64_t bytes = how.workspace().bytes; bytes != 0) {
    const Id slot = plan.addTemporary(bytes);
    if (const auto *stages = std::get_if<DynamicStages>(&how.work))
      if (Result<void> done = dynamic->addWorkspace(slot, *stages); !done)
        return done;
    step.buffers.push_back(reference(slot, BufferAccess::InOut));
  }
  if (how.readsTable() && !how.isDynamic())
    step.buffers.push_back(
        reference(addTable(compiled.table()), BufferAccess::In));
  return {};
}

/// The steps of a kernel: one per stage, and per round of known sizes; \p step
/// is what they have in common.
void Scheduler::addWork(Step step, const KernelWork &work,
                        std::vector<Step> &steps) {
  const std::vector<BufferReference> buffers = step.buffers;
  const uint32_t entry = step.kernel;
  auto addStage = [&](size_t stage, int64_t tasks, double flops) {
    for (const BufferReference &buffer : buffers)
      plan.touch(static_cast<Id>(buffer.offset));
    step.kernel = entry + static_cast<uint32_t>(stage);
    step.tasks = tasks;
    step.flops = flops;
    add(step, steps);
  };
  std::visit(
      llvm::makeVisitor(
          [&](const TaskLoop &loop) { addStage(0, loop.tasks, loop.flops); },
          // Its DynamicStep says how many tasks there are.
          [&](const DynamicTaskLoop &) { addStage(0, 1, 0); },
          [&](const Stages &all) {
            step.bytesMoved /= double(all.rounds);
            for (int64_t round = 0; round < all.rounds; ++round)
              for (const auto &[i, stage] : llvm::enumerate(all.stages)) {
                step.firstTask = round * stage.tasks;
                addStage(i, stage.tasks, stage.flops);
              }
          },
          [&](const DynamicStages &all) {
            for (const auto &[i, stage] : llvm::enumerate(all.stages)) {
              step.buffers.clear();
              for (unsigned buffer : stage.buffers)
                step.buffers.push_back(buffers[buffer]);
              addStage(i, stage.tasks, stage.flops);
            }
          }),
      work);
}

Result<void> Scheduler::scheduleKernel(KernelOp op, std::vector<Step> &steps) {
  auto compiled = kernels.find(op);
  if (compiled == kernels.end()) {
    // All results are empty.
    for (Value result : op.getResults())
      slots.create(result);
    return {};
  }
  const KernelPlan &how = *compiled->second.plan;
  Step step;
  step.kernel = compiled->second.entry;
  step.kernelName = how.name;
  step.arithmetic = arithmeticOf(op, how.name);
  step.layer = layerOf(op.getLoc());
  step.op = describe(op);
  if (const std::optional<uint64_t> updated = op.getUpdated()) {
    Id target = slots.create(op.getResult(0));
    if (Result<void> done = copy(op.getInputs()[*updated], target, steps);
        !done)
      return done;
  }
  if (dynamic)
    if (Result<void> added = dynamic->addKernel(op, compiled->second); !added)
      return added;
  if (Result<void> added = addOperands(step, op, how); !added)
    return added;
  if (Result<void> added = addWorkMemory(step, op, compiled->second); !added)
    return added;
  addWork(std::move(step), how.work, steps);
  return {};
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

Result<void> Scheduler::scheduleBranch(Block &block, ArrayRef<Id> results,
                                       std::vector<Step> &steps) {
  OperandRange returned = block.getTerminator()->getOperands();
  for (auto [value, slot] : llvm::zip(returned, results))
    slots.claim(value, block, slot);
  if (Result<void> done = scheduleBlock(block, steps); !done)
    return done;
  for (auto [value, slot] : llvm::zip(returned, results))
    if (Result<void> done = copy(value, slot, steps); !done)
      return done;
  return {};
}

Result<void> Scheduler::inBody(DynamicStep &step,
                               llvm::function_ref<Result<void>()> schedule) {
  std::vector<DynamicStep> body;
  std::vector<DynamicStep> *outer = dynamic ? dynamic->enter(&body) : nullptr;
  Result<void> done = schedule();
  if (dynamic) {
    dynamic->enter(outer);
    step.bodies.push_back(std::move(body));
  }
  return done;
}

Result<void> Scheduler::scheduleBranches(Operation *op,
                                         std::vector<Step> &steps) {
  Step step;
  step.kind = StepKind::If;
  step.op = op->getName().stripDialect().str();
  step.layer = layerOf(op->getLoc());
  step.selector = isa<stablehlo::IfOp>(op) ? ElementType::I1 : ElementType::I32;
  Result<Id> selector = slots.find(op->getOperand(0));
  if (!selector)
    return selector.takeError();
  step.buffers = {reference(*selector, BufferAccess::In)};
  plan.tick();
  SmallVector<Id> results;
  for (Value result : op->getResults()) {
    results.push_back(slots.create(result));
    plan.touch(results.back());
  }
  DynamicStep dynamicStep;
  for (Region &region : op->getRegions()) {
    std::vector<Step> &body = step.bodies.emplace_back();
    if (Result<void> done = inBody(
            dynamicStep,
            [&] { return scheduleBranch(region.front(), results, body); });
        !done)
      return done;
    if (dynamic)
      dynamicStep.fits.push_back(
          dynamic->differencesOf(op, region.front().getTerminator()));
  }
  for (Id slot : results)
    plan.touch(slot);
  if (dynamic)
    dynamic->addStep(std::move(dynamicStep));
  add(std::move(step), steps);
  return {};
}

/// Several loops may run at once.
Result<void> Scheduler::scheduleLoops(ArrayRef<stablehlo::WhileOp> loops,
                                      std::vector<Step> &steps) {
  if (loops.size() == 1)
    return scheduleLoop(loops.front(), steps);
  Step step;
  step.kind = StepKind::Concurrent;
  step.op = "concurrent";
  DynamicStep dynamicStep;
  plan.beginConcurrent();
  for (stablehlo::WhileOp loop : loops) {
    std::vector<Step> &body = step.bodies.emplace_back();
    if (Result<void> done =
            inBody(dynamicStep, [&] { return scheduleLoop(loop, body); });
        !done)
      return done;
  }
  plan.endConcurrent();
  if (dynamic)
    dynamic->addStep(std::move(dynamicStep));
  add(std::move(step), steps);
  return {};
}

Result<void> Scheduler::scheduleLoop(stablehlo::WhileOp op,
                                     std::vector<Step> &steps) {
  Block &condition = op.getCond().front(), &body = op.getBody().front();
  SmallVector<Id> carried;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    carried.push_back(slots.create(op->getResult(i)));
    if (Result<void> done = copy(operand, carried.back(), steps); !done)
      return done;
    slots.assign(condition.getArgument(i), carried.back());
    slots.assign(body.getArgument(i), carried.back());
  }
  Step step;
  step.kind = StepKind::While;
  step.op = "while";
  step.layer = layerOf(op.getLoc());
  step.bodies.resize(2);
  DynamicStep dynamicStep;
  dynamicStep.bodies.resize(2);
  plan.tick();
  plan.beginLoop();
  std::vector<DynamicStep> *outer =
      dynamic ? dynamic->enter(&dynamicStep.bodies[0]) : nullptr;
  if (Result<void> done = scheduleBlock(condition, step.bodies[0]); !done)
    return done;
  if (dynamic)
    dynamic->enter(&dynamicStep.bodies[1]);
  Result<Id> again = slots.find(condition.getTerminator()->getOperand(0));
  if (!again)
    return again.takeError();
  step.buffers = {reference(*again, BufferAccess::In)};
  plan.tick();
  OperandRange returned = body.getTerminator()->getOperands();
  for (auto [i, value] : llvm::enumerate(returned))
    slots.claimUpdate(value, body.getArgument(i), carried[i]);
  if (Result<void> done = scheduleBlock(body, step.bodies[1]); !done)
    return done;
  if (Result<void> done =
          carry(llvm::to_vector(returned), carried, step.bodies[1]);
      !done)
    return done;
  for (Id slot : carried)
    plan.touch(slot);
  plan.endLoop();
  if (dynamic) {
    dynamic->enter(outer);
    dynamic->addStep(std::move(dynamicStep));
  }
  add(std::move(step), steps);
  return {};
}

Result<void> cpu::schedule(std::shared_ptr<Model> model,
                           const KernelTable &kernels,
                           ConstantScope *constantScope, Program &program) {
  return Scheduler(std::move(model), kernels, constantScope, program).run();
}
