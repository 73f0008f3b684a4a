//===- OpenInstance.cpp - an open program for sizes that are known --------===//

#include "runtime/OpenInstance.h"

#include "runtime/ArenaPlan.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace sinter {

static Error noSense() {
  return systemError("damaged program: its open sizes make no sense");
}

OpenInstance::OpenInstance(std::shared_ptr<const Program> program)
    : source(std::move(program)), open(*source->open),
      made(std::make_shared<Program>()) {}

Result<std::unique_ptr<OpenInstance>>
OpenInstance::create(std::shared_ptr<const Program> program,
                     std::vector<int64_t> given, const SlotPlan *largest) {
  std::unique_ptr<OpenInstance> instance(new OpenInstance(std::move(program)));
  instance->givenSizes = instance->parameters = std::move(given);
  instance->largest = largest;
  if (Result<void> done = instance->begin(); !done)
    return done.takeError();
  return instance;
}

Result<SlotPlan> OpenInstance::planOf(std::shared_ptr<const Program> program,
                                      std::vector<int64_t> parameters) {
  OpenInstance instance(std::move(program));
  instance.parameters = std::move(parameters);
  instance.cut();
  instance.findSlots();
  PartState &all = instance.all.front();
  if (Result<void> done = instance.setPlaces(all); !done)
    return done.takeError();
  instance.placeInArena(all);
  SlotPlan plan;
  for (const BufferReference &place : instance.places) {
    plan.bytes.push_back(place.bytes);
    plan.offsets.push_back(place.offset);
  }
  plan.arenaBytes = all.arenaBytes;
  return plan;
}

Result<void> OpenInstance::begin() {
  made->triple = source->triple;
  made->features = source->features;
  made->producer = source->producer;
  made->constants = source->constants;
  made->states = source->states;
  made->kernels = source->kernels;
  made->code.entries = source->code.entries;
  made->inputs = source->inputs;
  made->outputs = source->outputs;
  if (Result<void> within = checkLimits(*source, parameters); !within)
    return within;
  // The table of sizes is one more constant, and aligned like any other.
  table = std::make_shared<Tensor>(
      ElementType::I64, Shape{static_cast<int64_t>(open.sizes.size())});
  tableConstant = static_cast<uint32_t>(made->constants.size());
  made->constants.push_back({table, {table->data(), table->bytes()}});
  cut();
  findSlots();
  return setTensors();
}

void OpenInstance::cut() {
  PartState *part = &all.emplace_back();
  for (size_t i = 0; i < source->steps.size(); ++i) {
    if (source->steps[i].kind == StepKind::Size) {
      part->definition = i;
      part = &all.emplace_back();
      part->first = i + 1;
    }
    part->last = i + 1;
  }
}

/// Which part uses each slot first, and which of the arena's live on.
void OpenInstance::findSlots() {
  places.resize(open.slots.size());
  std::vector<bool> isOwned(open.slots.size(), false);
  // The last part that uses each.
  std::vector<const PartState *> user(open.slots.size(), nullptr);
  auto own = [&](auto &self, PartState &part,
                 std::span<const Step> steps) -> void {
    for (const Step &step : steps) {
      for (const BufferReference &buffer : step.buffers) {
        if (buffer.offset >= isOwned.size())
          continue;
        user[buffer.offset] = &part;
        if (isOwned[buffer.offset])
          continue;
        isOwned[buffer.offset] = true;
        part.owned.push_back(static_cast<uint32_t>(buffer.offset));
      }
      for (const std::vector<Step> &body : step.bodies)
        self(self, part, body);
    }
  };
  std::vector<uint32_t> alive;
  for (PartState &part : all) {
    const std::span<const Step> steps(source->steps);
    own(own, part, steps.subspan(part.first, part.last - part.first));
    if (part.definition)
      own(own, part, steps.subspan(*part.definition, 1));
    int64_t begin = std::numeric_limits<int64_t>::max();
    for (uint32_t slot : part.owned)
      if (open.slots[slot].space == BufferSpace::Arena)
        begin = std::min(begin, open.slots[slot].begin);
    if (begin != std::numeric_limits<int64_t>::max())
      // What is used before the part's own slots are is there, too.
      std::erase_if(alive, [&](uint32_t slot) {
        return open.slots[slot].end < begin && user[slot] != &part;
      });
    part.before = alive;
    for (uint32_t slot : part.owned)
      if (open.slots[slot].space == BufferSpace::Arena)
        alive.push_back(slot);
  }
}

void OpenInstance::restart() {
  if (all.size() == 1)
    return;
  parameters = givenSizes;
  for (size_t i = 0; i < made->outputs.size(); ++i)
    made->outputs[i].shape = source->outputs[i].shape;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

Error OpenInstance::wrong(const SizeExpression &size,
                          const std::string &what) const {
  const std::string given = textOf(open, parameters);
  return usageError((given.empty() ? "" : "with " + given + ", ") +
                    size.text(open.parameters) + " is " + what);
}

/// A size, which is known here and not negative.
Result<int64_t> OpenInstance::valueOf(const SizeExpression &size) const {
  const std::optional<int64_t> value = knownSize(size, parameters);
  if (!value)
    return noSense();
  if (*value == std::numeric_limits<int64_t>::min())
    return wrong(size, "too large");
  if (*value < 0)
    return wrong(size, "negative");
  return *value;
}

Result<Shape>
OpenInstance::shapeOf(const std::vector<SizeExpression> &sizes) const {
  Shape shape;
  for (const SizeExpression &size : sizes) {
    Result<int64_t> value = valueOf(size);
    if (!value)
      return value.takeError();
    shape.push_back(*value);
  }
  return shape;
}

/// Inputs and outputs whose sizes are known.
Result<void> OpenInstance::setTensors() {
  auto set = [&](std::vector<TensorSpec> &specs,
                 const std::vector<std::vector<SizeExpression>> &sizes)
      -> Result<void> {
    for (size_t i = 0; i < specs.size(); ++i) {
      if (!std::ranges::all_of(sizes[i], [&](const SizeExpression &size) {
            return knownSize(size, parameters).has_value();
          }))
        continue;
      Result<Shape> shape = shapeOf(sizes[i]);
      if (!shape)
        return shape.takeError();
      specs[i].shape = std::move(*shape);
      if (!byteCount(specs[i].type, specs[i].shape))
        return usageError("'" + specs[i].name + "' would be too large");
    }
    return {};
  };
  if (Result<void> done = set(made->inputs, open.inputs); !done)
    return done;
  return set(made->outputs, open.outputs);
}

/// What is not known yet is 0: no kernel of a part reads it. Numbers that are
/// no sizes may be negative.
Result<void> OpenInstance::setTable() {
  for (size_t i = 0; i < open.sizes.size(); ++i) {
    int64_t size = 0;
    if (const std::optional<int64_t> number = open.sizes[i].number()) {
      size = *number;
    } else if (knownSize(open.sizes[i], parameters)) {
      Result<int64_t> value = valueOf(open.sizes[i]);
      if (!value)
        return value.takeError();
      size = *value;
    }
    std::memcpy(table->mutableBytes() + i * sizeof(int64_t), &size,
                sizeof(int64_t));
  }
  return {};
}

const BufferReference *OpenInstance::sizesFrom(size_t number) const {
  return all[number].definition ? &all[number].sizesFrom : nullptr;
}

Result<void> OpenInstance::define(size_t number, const std::byte *numbers) {
  const size_t step = *all[number].definition;
  const ElementType type = source->steps[step].tensors[0].type;
  for (const SizeDefinition &each : open.steps[step].defines) {
    const std::byte *from = numbers + each.element * byteSize(type);
    int64_t value;
    if (type == ElementType::I64) {
      std::memcpy(&value, from, sizeof(value));
    } else {
      int32_t narrow;
      std::memcpy(&narrow, from, sizeof(narrow));
      value = narrow;
    }
    if (value < 0)
      return usageError(open.parameters[each.parameter] + " is " +
                        std::to_string(value) + ", which is no size");
    parameters[each.parameter] = value;
  }
  if (Result<void> done = setFollowing(open, parameters); !done)
    return done;
  return checkLimits(*source, parameters);
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

Result<OpenInstance::Part> OpenInstance::part(size_t number) {
  PartState &part = all[number];
  // Nothing before it could be another.
  if (all.size() == 1 && part.madeFor == parameters)
    return Part{part.steps, false};
  std::vector<uint64_t> offsets;
  for (uint32_t slot : part.before)
    offsets.push_back(places[slot].offset);
  if (Result<void> done = setTensors(); !done)
    return done.takeError();
  const bool isNew =
      part.madeFor != parameters || part.offsetsBefore != offsets;
  if (isNew) {
    part.madeFor.reset();
    if (Result<void> done = setPlaces(part); !done)
      return done.takeError();
    if (all.size() > 1 || !largest || !placeAsIn(*largest))
      placeInArena(part);
    part.steps.clear();
    const size_t count = part.last - part.first;
    if (Result<void> done = addSteps(
            std::span(source->steps).subspan(part.first, count),
            std::span(open.steps).subspan(part.first, count), part.steps);
        !done)
      return done.takeError();
    if (part.definition) {
      Step step = source->steps[*part.definition];
      if (Result<void> done = setBuffers(step); !done)
        return done.takeError();
      const ElementType type = step.tensors[0].type;
      part.sizesFrom = step.buffers[0];
      for (const SizeDefinition &each : open.steps[*part.definition].defines)
        if ((type != ElementType::I64 && type != ElementType::I32) ||
            static_cast<uint64_t>(each.element) >=
                part.sizesFrom.bytes / byteSize(type))
          return noSense();
    }
    part.madeFor = parameters;
    part.offsetsBefore = std::move(offsets);
  }
  // What was placed for other numbers is where it was for these.
  if (all.size() > 1 || isNew)
    if (Result<void> done = setTable(); !done) {
      part.madeFor.reset();
      return done.takeError();
    }
  made->arenaBytes = part.arenaBytes;
  return Part{part.steps, isNew};
}

/// How large the slots are that the part is the first to use.
Result<void> OpenInstance::setPlaces(const PartState &part) {
  for (uint32_t number : part.owned) {
    const OpenSlot &slot = open.slots[number];
    Result<int64_t> bytes = valueOf(slot.bytes);
    if (!bytes)
      return bytes.takeError();
    BufferReference &place = places[number];
    place.space = slot.space;
    place.index = slot.index;
    place.bytes = static_cast<uint64_t>(*bytes);
    if (slot.most != 0)
      place.bytes = std::min(place.bytes, slot.most);
    // No sum of sizes overflows.
    if (place.bytes > uint64_t(1) << 46)
      return wrong(slot.bytes, "too large");
  }
  return {};
}

void OpenInstance::placeInArena(PartState &part) {
  ArenaPlan plan;
  for (uint32_t slot : part.before)
    plan.addPlaced(places[slot].bytes, open.slots[slot].begin,
                   open.slots[slot].end, places[slot].offset);
  for (uint32_t number : part.owned) {
    const OpenSlot &slot = open.slots[number];
    if (slot.space == BufferSpace::Arena)
      plan.add(places[number].bytes, slot.begin, slot.end);
    else
      plan.add(0, -1, -1);
  }
  part.arenaBytes = plan.place();
  for (size_t i = 0; i < part.owned.size(); ++i)
    if (places[part.owned[i]].space == BufferSpace::Arena)
      places[part.owned[i]].offset = plan.offsetOf(part.before.size() + i);
}

/// All slots of the one part there is, unless one is larger than in the plan.
bool OpenInstance::placeAsIn(const SlotPlan &plan) {
  for (size_t i = 0; i < places.size(); ++i)
    if (places[i].bytes > plan.bytes[i])
      return false;
  for (size_t i = 0; i < places.size(); ++i)
    places[i].offset = plan.offsets[i];
  all.front().arenaBytes = plan.arenaBytes;
  return true;
}

Result<void> OpenInstance::setBuffers(Step &step) const {
  step.bytesMoved = 0;
  for (BufferReference &buffer : step.buffers) {
    const BufferAccess access = buffer.access;
    if (buffer.offset >= places.size())
      return noSense();
    buffer = places[buffer.offset];
    buffer.access = access;
    if (buffer.space != BufferSpace::Scratch)
      step.bytesMoved += static_cast<double>(buffer.bytes);
  }
  return {};
}

/// Units of a round.
struct OpenInstance::Turn {
  int64_t first = 0, count = 1;
};

/// Whether a body may be taken with these sizes.
bool OpenInstance::isTaken(const OpenStep &step, size_t body) const {
  return body >= step.fits.size() ||
         std::ranges::all_of(step.fits[body], [&](const SizeExpression &size) {
           return knownSize(size, parameters) == 0;
         });
}

Result<void> OpenInstance::addSteps(std::span<const Step> from,
                                    std::span<const OpenStep> sizes,
                                    std::vector<Step> &to) {
  for (size_t i = 0; i < from.size();
       i += std::max<size_t>(1, sizes[i].inTurns)) {
    Result<void> done = sizes[i].inTurns != 0
                            ? addTurns(from.subspan(i), sizes.subspan(i), to)
                            : addStep(from[i], sizes[i], {}, to);
    if (!done)
      return done;
  }
  return {};
}

/// The first of \p from and those that take turns with it.
Result<void> OpenInstance::addTurns(std::span<const Step> from,
                                    std::span<const OpenStep> sizes,
                                    std::vector<Step> &to) {
  const size_t count = sizes[0].inTurns;
  const SizePart &round = sizes[0].round;
  if (count > from.size() || round.block < 1)
    return noSense();
  Result<int64_t> units = valueOf(round.size);
  if (!units)
    return units.takeError();
  for (int64_t done = 0; done < *units;) {
    const Turn turn = {done, std::min(round.block, *units - done)};
    for (size_t i = 0; i < count; ++i)
      if (Result<void> added = addStep(from[i], sizes[i], turn, to); !added)
        return added;
    done += turn.count;
  }
  return {};
}

Result<void> OpenInstance::addStep(const Step &from, const OpenStep &sizes,
                                   const Turn &turn, std::vector<Step> &to) {
  Step step = from;
  for (std::vector<Step> &body : step.bodies)
    body.clear();
  if (Result<void> done = setBuffers(step); !done)
    return done;
  for (size_t body = 0; body < step.bodies.size(); ++body)
    if (isTaken(sizes, body))
      if (Result<void> done = addSteps(from.bodies[body], sizes.bodies[body],
                                       step.bodies[body]);
          !done)
        return done;
  if (step.kind == StepKind::HostCall)
    for (size_t each = 0; each < step.tensors.size(); ++each) {
      Result<Shape> shape = shapeOf(sizes.tensors[each]);
      if (!shape)
        return shape.takeError();
      step.tensors[each].shape = std::move(*shape);
    }
  bool isEmpty = false;
  if (step.kind == StepKind::Kernel)
    if (Result<void> done = setWork(step, sizes, turn, isEmpty); !done)
      return done;
  // Nothing is computed of no elements.
  if (!isEmpty)
    to.push_back(std::move(step));
  return {};
}

/// The tasks of a kernel, what they take, and what the code may rely on.
Result<void> OpenInstance::setWork(Step &step, const OpenStep &sizes,
                                   const Turn &turn, bool &isEmpty) {
  int64_t tasks = 1;
  for (const SizePart &part : sizes.tasks) {
    Result<int64_t> size = valueOf(part.size);
    if (!size)
      return size.takeError();
    if (part.block < 1)
      return noSense();
    const int64_t parts = *size / part.block + (*size % part.block != 0);
    if (__builtin_mul_overflow(tasks, parts, &tasks))
      return wrong(part.size, "too large");
  }
  isEmpty = tasks == 0;
  if (isEmpty)
    return {};
  if (__builtin_mul_overflow(turn.first, tasks, &step.firstTask) ||
      __builtin_mul_overflow(turn.count, tasks, &step.tasks))
    return wrong(sizes.round.size, "too large");
  Result<int64_t> units = valueOf(sizes.units);
  if (!units)
    return units.takeError();
  step.flops = static_cast<double>(*units) * static_cast<double>(turn.count) *
               sizes.flopsPerUnit;
  if (sizes.firstSize > open.sizes.size() ||
      sizes.sizeCount > open.sizes.size() - sizes.firstSize)
    return noSense();
  constexpr uint64_t each = sizeof(int64_t);
  if (sizes.sizeCount != 0)
    step.buffers.push_back({BufferSpace::Constant, BufferAccess::In,
                            tableConstant, sizes.firstSize * each,
                            sizes.sizeCount * each});
  return setContract(step);
}

/// What code for all sizes takes for granted is what these sizes make of it.
Result<void> OpenInstance::setContract(const Step &step) {
  if (step.kernel >= made->kernels.size())
    return noSense();
  const KernelContract &any = source->kernels[step.kernel];
  KernelContract &contract = made->kernels[step.kernel];
  if (contract.buffers.size() != step.buffers.size())
    return noSense();
  contract.tasks = std::max(contract.tasks, step.firstTask + step.tasks);
  for (size_t i = 0; i < step.buffers.size(); ++i)
    if (any.buffers[i].bytes == 0)
      contract.buffers[i].bytes = step.buffers[i].bytes;
  return {};
}

} // namespace sinter
