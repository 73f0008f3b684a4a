//===- Schedule.cpp - from kernels to a program's steps -------------------===//

#include "backend/cpu/Schedule.h"

#include "backend/cpu/FormKernels.h"
#include "backend/cpu/Memory.h"
#include "backend/cpu/OperationKind.h"
#include "backend/cpu/SizeTable.h"
#include "backend/cpu/emit/Anchors.h"
#include "backend/cpu/emit/OpenKernel.h"
#include "backend/cpu/kernels/Winograd.h"
#include "backend/cpu/layout/ComputeWeights.h"
#include "graph/Constants.h"
#include "graph/Types.h"
#include "graph/stablehlo/StablehloOps.h"
#include "graph/storage/Storage.h"
#include "runtime/Hash.h"
#include "runtime/MappedPages.h"
#include "runtime/OpenProgram.h"

#include <map>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// 0 where sizes are named.
static uint64_t bytesOf(Value value) {
  RankedTensorType type = tensorOf(value);
  if (hasNamedSizes(type))
    return 0;
  std::optional<ElementType> element = elementTypeOf(type.getElementType());
  return type.getNumElements() * byteSize(*element);
}

/// The value whose memory \p value is.
static Value memoryOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isAlias(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// Whose ceiling the arithmetic of \p kernel has.
static ElementType arithmeticOf(KernelOp kernel, StringRef name) {
  Operation *heavy = kernel.rootOp();
  for (Operation &op : kernel.getBody().front())
    if (isAnchor(&op))
      heavy = &op;
  if (!heavy)
    return ElementType::F32;
  const Type sums = getElementTypeOrSelf(heavy->getResult(0).getType());
  if (isAnchor(heavy) && isa<IntegerType>(sums))
    return ElementType::I8;
  // Channel by channel and by Winograd's method f32 is multiplied.
  const auto factor = [&](unsigned i) {
    return getElementTypeOrSelf(heavy->getOperand(i));
  };
  if (isa<NarrowProductOp, cpu::ConvolutionOp>(heavy) && factor(0).isBF16() &&
      factor(1).isBF16() && !Winograd::formOf(name))
    return ElementType::BF16;
  return sums.isF64() ? ElementType::F64 : ElementType::F32;
}

std::string cpu::layerOf(Location location) {
  if (auto name = dyn_cast<NameLoc>(location))
    return name.getName().str();
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location part : fused.getLocations())
      if (std::string name = layerOf(part); !name.empty())
        return name;
  return "";
}

namespace {

class Scheduler {
public:
  Scheduler(std::shared_ptr<Model> model, const KernelTable &kernels,
            Program &program)
      : model(std::move(model)), kernels(kernels), program(program),
        sizes(SizeTable::of(this->model->module())) {}

  Result<void> run() {
    Result<Storage> storage = Storage::of(*model);
    if (!storage)
      return storage.takeError();
    Block &body = model->entry().front();
    OperandRange returned = body.getTerminator()->getOperands();
    for (auto [i, number] : llvm::enumerate(storage->inputs())) {
      BlockArgument argument = body.getArgument(number);
      slotOf[argument] = addSlot(BufferSpace::Input, i, argument);
      if (sizes)
        open.inputs.push_back(sizesOf(argument));
    }
    SmallVector<Value> saved;
    SmallVector<Id> states;
    for (const StateTensor &state : storage->states()) {
      if (Result<void> added = addState(body, state); !added)
        return added;
      states.push_back(slotOf[body.getArgument(state.argument)]);
      saved.push_back(returned[state.result]);
    }
    for (auto [i, number] : llvm::enumerate(storage->outputs())) {
      Value result = returned[number];
      outputs.push_back(addSlot(BufferSpace::Output, i, result));
      if (sizes)
        open.outputs.push_back(sizesOf(result));
      claim(result, body, outputs.back());
    }
    for (auto [state, value, slot] :
         llvm::zip_equal(storage->states(), saved, states))
      claimUpdate(value, body.getArgument(state.argument), slot);
    if (Result<void> done = block(body, program.steps); !done)
      return done;
    for (auto [number, slot] : llvm::zip_equal(storage->outputs(), outputs))
      if (Result<void> done = copy(returned[number], slot, program.steps);
          !done)
        return done;
    if (Result<void> done = carry(saved, states, program.steps); !done)
      return done;
    if (sizes)
      return leaveOpen();
    program.arenaBytes = plan.place();
    resolve(program.steps);
    return {};
  }

private:
  using Id = MemoryPlan::Id;

  /// Memory of a kernel that follows from sizes; no more than `most`, if that
  /// is not 0.
  struct Workspace {
    Id slot;
    SizeExpression bytes;
    uint64_t most;
  };

  /// A slot for \p value, whose sizes may be named.
  Id addSlot(BufferSpace space, uint32_t index, Value value) {
    const Id slot = plan.add(space, index, bytesOf(value));
    if (hasNamedSizes(value.getType()))
      openSlots.push_back({slot, value});
    return slot;
  }
  std::vector<SizeExpression> sizesOf(Value value) const {
    std::vector<SizeExpression> all;
    for (int64_t size : shapeOf(value))
      all.push_back(sizes->expressionOf(size));
    return all;
  }

  /// The program stays one of all sizes: what depends on them is put down as it
  /// follows from them.
  Result<void> leaveOpen() {
    open.parameters = sizes->parameters;
    open.limits = sizes->limits;
    open.following = sizes->following;
    for (Id id = 0; id < plan.size(); ++id) {
      const MemorySlot &slot = plan[id];
      open.slots.push_back({slot.space, slot.index,
                            SizeExpression(static_cast<int64_t>(slot.bytes)),
                            slot.begin, slot.end, 0});
    }
    for (auto [id, value] : openSlots) {
      const ElementType element =
          *elementTypeOf(tensorOf(value).getElementType());
      std::optional<SizeExpression> bytes = sizes->countOf(shapeOf(value));
      if (bytes)
        bytes = SizeExpression::productOf(
            *bytes, static_cast<int64_t>(byteSize(element)));
      if (!bytes)
        return unsupported("'" + layerOf(value.getLoc()) +
                           "': its size has too many terms");
      open.slots[id].bytes = *bytes;
    }
    for (const Workspace &each : workspaces) {
      open.slots[each.slot].bytes = each.bytes;
      open.slots[each.slot].most = each.most;
    }
    program.open = std::make_shared<const OpenProgram>(std::move(open));
    return {};
  }

  /// Stages that take turns, \p step being what they have in common.
  Result<void> addOpenStages(OpenStep step, const CompiledKernel &compiled) {
    const KernelPlan &how = *compiled.plan;
    Result<SizeExpression> units = countOf(*how.units);
    if (!units)
      return units.takeError();
    step.round = {*units, how.units->ofRound};
    step.units = 1;
    for (const auto &[i, stage] : llvm::enumerate(how.stages)) {
      step.inTurns = i == 0 ? static_cast<uint32_t>(how.stages.size()) : 0;
      step.tasks = {{stage.tasks, 1}};
      step.flopsPerUnit = stage.flops;
      setTable(step, compiled.table(i));
      open.steps.push_back(step);
    }
    return {};
  }

  Result<SizeExpression> countOf(const KernelPlan::Units &units) {
    std::optional<SizeExpression> count = 1;
    for (const TaskPart &part : units.parts) {
      const std::optional<SizeExpression> factor = sizes->partsOf(part);
      count = count && factor ? SizeExpression::productOf(*count, *factor)
                              : std::nullopt;
    }
    if (!count)
      return unsupported("a kernel's size has too many terms");
    return *count;
  }

  /// The workspace of as many units as a round has at most.
  Result<Id> addWorkspace(const KernelPlan &how) {
    const Id slot = plan.addTemporary(how.workspaceBytes);
    if (!how.units)
      return slot;
    Result<SizeExpression> units = countOf(*how.units);
    if (!units)
      return units.takeError();
    const std::optional<SizeExpression> bytes = SizeExpression::productOf(
        *units, static_cast<int64_t>(how.workspaceBytes));
    if (!bytes)
      return unsupported("a kernel's size has too many terms");
    workspaces.push_back(
        {slot, *bytes, how.workspaceBytes * uint64_t(how.units->ofRound)});
    return slot;
  }

  /// Scratch memory, as large as sizes will be.
  Result<Id> addScratch(KernelOp op, const KernelPlan &how) {
    const Id slot = plan.add(BufferSpace::Scratch, 0, how.scratchBytes);
    if (!how.openScratch)
      return slot;
    const auto fixed = static_cast<int64_t>(how.scratchBytes),
               each = static_cast<int64_t>(how.openScratch->bytesEach);
    std::optional<SizeExpression> bytes = SizeExpression::productOf(
        sizes->expressionOf(how.openScratch->size), each);
    if (bytes)
      bytes = SizeExpression::sumOf(*bytes, fixed);
    if (!bytes)
      return unsupported("'" + layerOf(op.getLoc()) +
                         "': its size has too many terms");
    workspaces.push_back({slot, *bytes, 0});
    return slot;
  }

  /// Lets \p step read \p table, which has a place in the program's. Code
  /// that reads nothing is given a number, too.
  void setTable(OpenStep &step, ArrayRef<int64_t> table) {
    constexpr int64_t none[] = {0};
    if (table.empty())
      table = none;
    const auto [place, isNew] =
        tables.try_emplace(table.vec(), uint32_t(open.sizes.size()));
    if (isNew)
      for (int64_t size : table)
        open.sizes.push_back(sizes->expressionOf(size));
    step.firstSize = place->second;
    step.sizeCount = uint32_t(table.size());
  }

  /// The constant that is the table of a kernel of known sizes, of one number
  /// at least.
  Id addTable(ArrayRef<int64_t> table) {
    Tensor numbers(ElementType::I64,
                   {std::max<int64_t>(1, int64_t(table.size()))});
    llvm::copy(table, numbers.mutableValues<int64_t>().begin());
    return plan.add(BufferSpace::Constant, addConstant(numbers, nullptr),
                    numbers.bytes());
  }

  /// How the number of \p op's tasks and its work follow from sizes.
  Result<void> addOpenStep(KernelOp op, const KernelPlan &how) {
    OpenStep step;
    step.tasks = {{how.tasks, 1}};
    step.flopsPerUnit = how.flops;
    if (isOpen(op)) {
      step.tasks.clear();
      std::optional<SizeExpression> units =
          sizes->countOf(shapeOf(op.getResult(0)));
      for (const TaskPart &part : how.taskParts) {
        std::optional<SizeExpression> size =
            sizes->partsOf({part.sizes, 1, part.tiles});
        if (!size)
          units.reset();
        step.tasks.push_back({size.value_or(SizeExpression()), part.block});
      }
      if (units)
        units =
            SizeExpression::productOf(*units, sizes->expressionOf(how.depth));
      if (!units)
        return unsupported("'" + layerOf(op.getLoc()) +
                           "': its size has too many terms");
      step.units = *units;
      setTable(step, kernels.lookup(op).table());
    }
    if (how.units)
      return addOpenStages(step, kernels.lookup(op));
    const size_t stages = std::max<size_t>(1, how.stages.size());
    for (int64_t i = 0; i < how.rounds * int64_t(stages); ++i) {
      if (!how.stages.empty()) {
        step.tasks = {{how.stages[i % stages].tasks, 1}};
        step.flopsPerUnit = how.stages[i % stages].flops;
      }
      openSteps->push_back(step);
    }
    return {};
  }

  /// A buffer for a state, and the constant that it starts with.
  Result<void> addState(Block &body, const StateTensor &state) {
    std::optional<Tensor> initial = toTensor(state.initial);
    if (!initial)
      return unsupported("state '" + state.spec.name +
                         "' has no readable initial value");
    slotOf[body.getArgument(state.argument)] =
        plan.add(BufferSpace::State, program.states.size(), initial->bytes());
    program.states.push_back({state.spec, addConstant(*initial, model)});
    return {};
  }

  /// Lets what computes \p value in \p block write to \p slot directly, if it
  /// is computed there and nobody else has asked for that.
  void claim(Value value, Block &block, Id slot) {
    Value memory = memoryOf(value);
    Operation *op = memory.getDefiningOp();
    if (op && op->getBlock() == &block &&
        (isa<KernelOp, HostCallOp>(op) || isControlFlow(op)) &&
        isKnownWith(value, memory))
      slotOf.try_emplace(memory, slot);
  }

  /// Whether the sizes of \p value are known as soon as those of \p memory,
  /// of which it is another form: they follow from no others.
  bool isKnownWith(Value value, Value memory) const {
    if (value == memory || !sizes)
      return true;
    llvm::SmallDenseSet<uint32_t> known;
    for (const SizeExpression &size : sizesOf(memory))
      for (const SizeExpression::Term &term : size.terms())
        known.insert(term.parameters.begin(), term.parameters.end());
    return llvm::all_of(sizesOf(value), [&](const SizeExpression &size) {
      return llvm::all_of(size.terms(), [&](const SizeExpression::Term &term) {
        return llvm::all_of(term.parameters, [&](uint32_t parameter) {
          return known.contains(parameter);
        });
      });
    });
  }

  /// The slot of a value that exists; a constant comes into being when it is
  /// asked for.
  Result<Id> find(Value value) {
    Value memory = memoryOf(value);
    if (auto known = slotOf.find(memory); known != slotOf.end())
      return known->second;
    if (!memory.getDefiningOp<stablehlo::ConstantOp>() &&
        !memory.getDefiningOp<ComputedConstantOp>())
      return systemError("a value is used before it is computed");
    Result<uint32_t> index = constantIndex(memory, nullptr);
    if (!index)
      return index.takeError();
    return slotOf[memory] = addSlot(BufferSpace::Constant, *index, memory);
  }

  /// The slot that \p value is to be written to.
  Id create(Value value) {
    auto [entry, isNew] = slotOf.try_emplace(value, 0);
    if (isNew)
      entry->second = addSlot(BufferSpace::Arena, 0, value);
    return entry->second;
  }

  Result<uint32_t> constantIndex(Value constant,
                                 const KernelPlan::Packing *packing) {
    Result<Tensor> tensor = weightValue(constant);
    if (!tensor)
      return unsupported("constant '" + layerOf(constant.getLoc()) +
                         "': " + tensor.error().message);
    if (!packing)
      return addConstant(*tensor, model);
    Tensor packed(ElementType::UI8, {int64_t(packing->bytes)});
    packing->pack(*tensor, packed.mutableBytes());
    releasePages({tensor->data(), tensor->bytes()});
    return addConstant(packed, nullptr);
  }

  /// The constant with these bytes, aligned; each is there once. \p owner keeps
  /// those of \p tensor alive, unless it does so itself.
  uint32_t addConstant(const Tensor &tensor, std::shared_ptr<Model> owner) {
    const Tensor bytes = tensor.isAligned() ? tensor : tensor.owned();
    Hash128 hash = hashOf({bytes.data(), bytes.bytes()});
    auto [entry, isNew] = constants.try_emplace(
        {hash.low, hash.high, bytes.bytes()}, program.constants.size());
    if (isNew) {
      // A copy needs nobody else.
      if (bytes.data() != tensor.data()) {
        owner = nullptr;
        releasePages({tensor.data(), tensor.bytes()});
      }
      auto both = std::make_shared<std::pair<std::shared_ptr<Model>, Tensor>>(
          std::move(owner), bytes);
      program.constants.push_back({both, {bytes.data(), bytes.bytes()}});
    }
    return entry->second;
  }

  BufferReference reference(Id slot, BufferAccess access) {
    plan.touch(slot);
    BufferReference buffer;
    buffer.access = access;
    // The slot's number until `resolve`.
    buffer.offset = slot;
    return buffer;
  }

  Result<void> copy(Value from, Id to, std::vector<Step> &steps) {
    Result<Id> source = find(from);
    if (!source)
      return source.takeError();
    copySlot(*source, to, steps);
    return {};
  }

  void copySlot(Id from, Id to, std::vector<Step> &steps) {
    if (from == to)
      return;
    Step step;
    step.kind = StepKind::Copy;
    step.op = "copy";
    step.buffers = {reference(from, BufferAccess::In),
                    reference(to, BufferAccess::Out)};
    step.bytesMoved = 2.0 * plan[from].bytes;
    steps.push_back(std::move(step));
    if (sizes)
      openSteps->emplace_back().tasks = {{1, 1}};
    plan.tick();
  }

  Result<void> block(Block &body, std::vector<Step> &steps) {
    for (Operation &op : llvm::reverse(body)) {
      if (auto loopOp = dyn_cast<stablehlo::WhileOp>(op))
        claimInitial(loopOp);
      else if (auto kernelOp = dyn_cast<KernelOp>(op))
        claimUpdated(kernelOp);
    }
    for (Operation &op : body) {
      Result<void> done = {};
      if (auto kernelOp = dyn_cast<KernelOp>(op))
        done = kernel(kernelOp, steps);
      else if (auto whileOp = dyn_cast<stablehlo::WhileOp>(op))
        done = loop(whileOp, steps);
      else if (auto callOp = dyn_cast<HostCallOp>(op))
        done = hostCall(callOp, steps);
      else if (auto sizeOp = dyn_cast<DefineSizesOp>(op))
        done = defineSizes(sizeOp, steps);
      else if (isControlFlow(&op))
        done = choice(&op, steps);
      if (!done)
        return done;
    }
    return {};
  }

  /// An input of a kernel, packed if the kernel wants that.
  Result<Id> input(Value value,
                   const std::optional<KernelPlan::Packing> &packing) {
    if (!packing)
      return find(value);
    Result<uint32_t> index = constantIndex(memoryOf(value), &*packing);
    if (!index)
      return index.takeError();
    return plan.add(BufferSpace::Constant, *index, packing->bytes);
  }

  Result<void> kernel(KernelOp op, std::vector<Step> &steps) {
    auto compiled = kernels.find(op);
    if (compiled == kernels.end()) {
      // All results are empty.
      for (Value result : op.getResults())
        create(result);
      return {};
    }
    const KernelPlan &how = *compiled->second.plan;
    Step step;
    step.kernel = compiled->second.entry;
    step.tasks = how.tasks;
    step.flops = how.flops;
    step.kernelName = how.name;
    step.arithmetic = arithmeticOf(op, how.name);
    step.layer = layerOf(op.getLoc());
    step.op = describe(op);
    if (how.updated) {
      Id target = create(op.getResult(0));
      if (Result<void> done = copy(op.getInputs()[*how.updated], target, steps);
          !done)
        return done;
    }
    if (sizes)
      if (Result<void> added = addOpenStep(op, how); !added)
        return added;
    for (auto [i, value] : llvm::enumerate(op.getInputs())) {
      if (i == how.updated)
        continue;
      Result<Id> slot = input(value, how.packings[i]);
      if (!slot)
        return slot.takeError();
      step.buffers.push_back(reference(*slot, BufferAccess::In));
      step.bytesMoved += plan[*slot].bytes;
    }
    for (OpResult result : op.getResults()) {
      Id slot = create(result);
      step.buffers.push_back(
          reference(slot, how.updated && result.getResultNumber() == 0
                              ? BufferAccess::InOut
                              : BufferAccess::Out));
      step.bytesMoved += plan[slot].bytes;
    }
    if (how.scratchBytes != 0 || how.openScratch) {
      Result<Id> slot = addScratch(op, how);
      if (!slot)
        return slot.takeError();
      step.buffers.push_back(reference(*slot, BufferAccess::InOut));
    }
    if (how.readsTable)
      step.buffers.push_back(
          reference(addTable(compiled->second.table()), BufferAccess::In));
    if (how.stages.empty()) {
      steps.push_back(std::move(step));
      plan.tick();
      return {};
    }
    if (how.workspaceBytes != 0) {
      Result<Id> workspace = addWorkspace(how);
      if (!workspace)
        return workspace.takeError();
      step.buffers.push_back(reference(*workspace, BufferAccess::InOut));
    }
    step.bytesMoved /= how.rounds;
    const std::vector<BufferReference> all = step.buffers;
    for (int64_t round = 0; round < how.rounds; ++round)
      for (const auto &[i, stage] : llvm::enumerate(how.stages)) {
        for (const BufferReference &buffer : all)
          plan.touch(static_cast<Id>(buffer.offset));
        if (how.cutsStages()) {
          step.buffers.clear();
          for (unsigned buffer : stage.buffers)
            step.buffers.push_back(all[buffer]);
        }
        step.kernel = compiled->second.entry + i;
        step.firstTask = round * stage.tasks;
        step.tasks = stage.tasks;
        step.flops = stage.flops;
        steps.push_back(step);
        plan.tick();
      }
    return {};
  }

  Result<void> hostCall(HostCallOp op, std::vector<Step> &steps) {
    Step step;
    step.kind = StepKind::HostCall;
    step.hostFunction = op.getFunction().str();
    step.configuration = op.getConfiguration().str();
    step.op = step.hostFunction;
    step.layer = layerOf(op.getLoc());
    OpenStep openStep;
    auto add = [&](Value value, Id slot, BufferAccess access) {
      step.buffers.push_back(reference(slot, access));
      step.bytesMoved += plan[slot].bytes;
      RankedTensorType type = tensorOf(value);
      if (sizes)
        openStep.tensors.push_back(sizesOf(value));
      step.tensors.push_back(
          {"", *elementTypeOf(type.getElementType()), type.getShape().vec()});
    };
    for (Value input : op.getInputs()) {
      Result<Id> slot = find(input);
      if (!slot)
        return slot.takeError();
      add(input, *slot, BufferAccess::In);
    }
    for (Value result : op.getResults())
      add(result, create(result), BufferAccess::Out);
    steps.push_back(std::move(step));
    if (sizes)
      openSteps->push_back(std::move(openStep));
    plan.tick();
    return {};
  }

  /// The step that reads numbers which later sizes follow from.
  Result<void> defineSizes(DefineSizesOp op, std::vector<Step> &steps) {
    if (openSteps != &open.steps)
      return unsupported("'" + layerOf(op.getLoc()) +
                         "': sizes that are computed in a branch or a loop");
    Result<Id> numbers = find(op.getNumbers());
    if (!numbers)
      return numbers.takeError();
    RankedTensorType type = tensorOf(op.getNumbers());
    Step step;
    step.kind = StepKind::Size;
    step.op = "define_sizes";
    step.layer = layerOf(op.getLoc());
    step.buffers = {reference(*numbers, BufferAccess::In)};
    step.tensors = {
        {"", *elementTypeOf(type.getElementType()), type.getShape().vec()}};
    steps.push_back(std::move(step));
    OpenStep &openStep = openSteps->emplace_back();
    for (auto [element, parameter] :
         llvm::zip_equal(op.getElements(), op.getParameters()))
      openStep.defines.push_back({static_cast<uint32_t>(parameter), element});
    plan.tick();
    return {};
  }

  /// "convolution+add+maximum", each name once.
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

  /// What must be 0 if the branch that ends with \p end is taken: by how much
  /// its results are larger than those of \p op.
  std::vector<SizeExpression> differencesOf(Operation *op, Operation *end) {
    std::vector<SizeExpression> all;
    for (auto [value, result] :
         llvm::zip(end->getOperands(), op->getResults())) {
      const auto own = sizes->countOf(shapeOf(memoryOf(value))),
                 whole = sizes->countOf(shapeOf(result));
      const auto less =
          whole ? SizeExpression::productOf(*whole, -1) : std::nullopt;
      const auto difference =
          own && less ? SizeExpression::sumOf(*own, *less) : std::nullopt;
      if (difference && *difference != SizeExpression(0))
        all.push_back(*difference);
    }
    return all;
  }

  Result<void> choice(Operation *op, std::vector<Step> &steps) {
    Step step;
    step.kind = StepKind::If;
    step.op = op->getName().stripDialect().str();
    step.layer = layerOf(op->getLoc());
    step.selector =
        isa<stablehlo::IfOp>(op) ? ElementType::I1 : ElementType::I32;
    Result<Id> selector = find(op->getOperand(0));
    if (!selector)
      return selector.takeError();
    step.buffers = {reference(*selector, BufferAccess::In)};
    plan.tick();
    SmallVector<Id> results;
    for (Value result : op->getResults()) {
      results.push_back(create(result));
      plan.touch(results.back());
    }
    std::vector<OpenStep> *const outer = openSteps;
    OpenStep openStep;
    for (Region &region : op->getRegions()) {
      std::vector<Step> &body = step.bodies.emplace_back();
      std::vector<OpenStep> openBody;
      openSteps = &openBody;
      Block &front = region.front();
      for (auto [value, slot] :
           llvm::zip(front.getTerminator()->getOperands(), results))
        claim(value, front, slot);
      if (Result<void> done = block(front, body); !done)
        return done;
      for (auto [value, slot] :
           llvm::zip(front.getTerminator()->getOperands(), results))
        if (Result<void> done = copy(value, slot, body); !done)
          return done;
      openStep.bodies.push_back(std::move(openBody));
      if (sizes)
        openStep.fits.push_back(differencesOf(op, front.getTerminator()));
    }
    openSteps = outer;
    for (Id slot : results)
      plan.touch(slot);
    steps.push_back(std::move(step));
    if (sizes)
      openSteps->push_back(std::move(openStep));
    plan.tick();
    return {};
  }

  Result<void> loop(stablehlo::WhileOp op, std::vector<Step> &steps) {
    SmallVector<Id> carried;
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      carried.push_back(create(op->getResult(i)));
      if (Result<void> done = copy(operand, carried.back(), steps); !done)
        return done;
      slotOf[op.getCond().front().getArgument(i)] = carried.back();
      slotOf[op.getBody().front().getArgument(i)] = carried.back();
    }
    Step step;
    step.kind = StepKind::While;
    step.op = "while";
    step.layer = layerOf(op.getLoc());
    step.bodies.resize(2);
    plan.tick();
    plan.beginLoop();
    Block &condition = op.getCond().front(), &body = op.getBody().front();
    std::vector<OpenStep> *const outer = openSteps;
    OpenStep openStep;
    openStep.bodies.resize(2);
    openSteps = &openStep.bodies[0];
    if (Result<void> done = block(condition, step.bodies[0]); !done)
      return done;
    openSteps = &openStep.bodies[1];
    Result<Id> again = find(condition.getTerminator()->getOperand(0));
    if (!again)
      return again.takeError();
    step.buffers = {reference(*again, BufferAccess::In)};
    plan.tick();
    for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands()))
      claimUpdate(value, body.getArgument(i), carried[i]);
    if (Result<void> done = block(body, step.bodies[1]); !done)
      return done;
    if (Result<void> done =
            carry(llvm::to_vector(body.getTerminator()->getOperands()), carried,
                  step.bodies[1]);
        !done)
      return done;
    for (Id slot : carried)
      plan.touch(slot);
    plan.endLoop();
    steps.push_back(std::move(step));
    openSteps = outer;
    if (sizes)
      openSteps->push_back(std::move(openStep));
    plan.tick();
    return {};
  }

  /// Lets what computes an initial value of \p op write it to where the loop
  /// carries it, if the loop alone reads it.
  void claimInitial(stablehlo::WhileOp op) {
    for (auto [operand, result] :
         llvm::zip(op->getOperands(), op->getResults())) {
      if (isReadOnce(operand))
        claim(operand, *op->getBlock(), create(result));
    }
  }
  /// The same for what \p op replaces a part of.
  void claimUpdated(KernelOp op) {
    auto compiled = kernels.find(op);
    if (compiled == kernels.end() || !compiled->second.plan->updated)
      return;
    Value operand = op.getInputs()[*compiled->second.plan->updated];
    if (isReadOnce(operand))
      claim(operand, *op->getBlock(), create(op.getResult(0)));
  }
  static bool isReadOnce(Value value) {
    Operation *op = value.getDefiningOp();
    return value.hasOneUse() &&
           (!op || !isAlias(op) || isReadOnce(op->getOperand(0)));
  }

  /// \p value, which a loop's body returns for \p argument (and the entry
  /// function for a state), is computed in \p slot, the argument's own memory,
  /// if nobody reads the old value then: but for the kernel that replaces a
  /// part of it in place.
  void claimUpdate(Value value, BlockArgument argument, Id slot) {
    Value memory = memoryOf(value);
    auto kernelOp = memory.getDefiningOp<KernelOp>();
    auto compiled = kernelOp ? kernels.find(kernelOp) : kernels.end();
    if (compiled == kernels.end() ||
        kernelOp->getBlock() != argument.getOwner())
      return;
    std::optional<unsigned> updated = compiled->second.plan->updated;
    if (updated && kernelOp.getInputs()[*updated] != argument)
      return;
    if (areReadBefore(argument, kernelOp, updated))
      slotOf.try_emplace(memory, slot);
  }
  /// Whether all uses of \p value are by kernels that run before \p op, or by
  /// \p op as the operand \p updated.
  static bool areReadBefore(Value value, KernelOp op,
                            std::optional<unsigned> updated) {
    return llvm::all_of(value.getUses(), [&](OpOperand &use) {
      Operation *user = use.getOwner();
      if (user == op)
        return updated == use.getOperandNumber();
      if (user->getBlock() != op->getBlock())
        return false;
      if (isAlias(user))
        return areReadBefore(user->getResult(0), op, std::nullopt);
      return isa<KernelOp>(user) && user->isBeforeInBlock(op);
    });
  }

  /// Moves \p values to where the next round of a loop, or the next run of the
  /// program, expects them. What is itself carried is saved before it is
  /// overwritten.
  Result<void> carry(ArrayRef<Value> values, ArrayRef<Id> carried,
                     std::vector<Step> &steps) {
    SmallVector<std::pair<Id, Id>> moves;
    for (auto [value, slot] : llvm::zip_equal(values, carried)) {
      Result<Id> source = find(value);
      if (!source)
        return source.takeError();
      if (*source == slot)
        continue;
      if (llvm::is_contained(carried, *source)) {
        Id saved = addSlot(BufferSpace::Arena, 0, value);
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

  void resolve(std::vector<Step> &steps) {
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

  std::shared_ptr<Model> model;
  const KernelTable &kernels;
  Program &program;
  /// Where sizes are named: what the names stand for, and what follows.
  std::optional<SizeTable> sizes;
  /// Where a kernel's table begins in the program's.
  std::map<std::vector<int64_t>, uint32_t> tables;
  OpenProgram open;
  /// Where the sizes of the next step go.
  std::vector<OpenStep> *openSteps = &open.steps;
  std::vector<std::pair<Id, Value>> openSlots;
  std::vector<Workspace> workspaces;
  MemoryPlan plan;
  DenseMap<Value, Id> slotOf;
  SmallVector<Id> outputs;
  std::map<std::array<uint64_t, 3>, uint32_t> constants;
};

} // namespace

Result<void> cpu::schedule(std::shared_ptr<Model> model,
                           const KernelTable &kernels, Program &program) {
  return Scheduler(std::move(model), kernels, program).run();
}
