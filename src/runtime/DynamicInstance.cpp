//===- DynamicInstance.cpp - a dynamic program for known sizes ------------===//

#include "runtime/DynamicInstance.h"

#include "runtime/ArenaPlan.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace sinter {

static Error noSense() {
  return systemError("damaged program: its dynamic sizes make no sense");
}

DynamicInstance::DynamicInstance(std::shared_ptr<const Program> program)
    : source(std::move(program)), dynamic(*source->dynamic),
      made(std::make_shared<Program>()) {}

Result<std::unique_ptr<DynamicInstance>>
DynamicInstance::create(std::shared_ptr<const Program> program,
                        std::vector<int64_t> given, const SlotPlan *largest) {
  std::unique_ptr<DynamicInstance> instance(
      new DynamicInstance(std::move(program)));
  instance->givenSizes = instance->parameters = std::move(given);
  instance->largest = largest;
  if (Result<void> done = instance->begin(); !done)
    return done.takeError();
  return instance;
}

Result<SlotPlan> DynamicInstance::planOf(std::shared_ptr<const Program> program,
                                         std::vector<int64_t> parameters) {
  DynamicInstance instance(std::move(program));
  instance.parameters = std::move(parameters);
  instance.cut();
  instance.findSlots();
  SectionState &all = instance.all.front();
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

Result<void> DynamicInstance::begin() {
  made->triple = source->triple;
  made->features = source->features;
  made->producer = source->producer;
  made->constants = source->constants;
  made->states = source->states;
  made->kernels = source->kernels;
  made->code.entries = source->code.entries;
  made->inputs = source->inputs;
  made->outputs = source->outputs;
  if (Result<void> within = checkGuards(*source, parameters); !within)
    return within;
  // The table of sizes is another constant, and aligned like any other.
  table = std::make_shared<Tensor>(
      ElementType::I64, Shape{static_cast<int64_t>(dynamic.sizes.size())});
  tableConstant = static_cast<uint32_t>(made->constants.size());
  made->constants.push_back({table, {table->data(), table->bytes()}});
  cut();
  findSlots();
  return setTensors();
}

void DynamicInstance::cut() {
  SectionState *section = &all.emplace_back();
  for (size_t i = 0; i < source->steps.size(); ++i) {
    if (source->steps[i].kind == StepKind::Size) {
      section->definition = i;
      section = &all.emplace_back();
      section->first = i + 1;
    }
    section->last = i + 1;
  }
}

/// The section that uses each slot first, and live slots of the arena.
void DynamicInstance::findSlots() {
  places.resize(dynamic.slots.size());
  std::vector<bool> isOwned(dynamic.slots.size(), false);
  // The last section that uses each slot.
  std::vector<const SectionState *> user(dynamic.slots.size(), nullptr);
  auto own = [&](auto &self, SectionState &section,
                 std::span<const Step> steps) -> void {
    for (const Step &step : steps) {
      for (const BufferReference &buffer : step.buffers) {
        if (buffer.offset >= isOwned.size())
          continue;
        user[buffer.offset] = &section;
        if (isOwned[buffer.offset])
          continue;
        isOwned[buffer.offset] = true;
        section.owned.push_back(static_cast<uint32_t>(buffer.offset));
      }
      for (const std::vector<Step> &body : step.bodies)
        self(self, section, body);
    }
  };
  std::vector<uint32_t> alive;
  for (SectionState &section : all) {
    const std::span<const Step> steps(source->steps);
    own(own, section,
        steps.subspan(section.first, section.last - section.first));
    if (section.definition)
      own(own, section, steps.subspan(*section.definition, 1));
    int64_t begin = std::numeric_limits<int64_t>::max();
    for (uint32_t slot : section.owned)
      if (dynamic.slots[slot].space == BufferSpace::Arena)
        begin = std::min(begin, dynamic.slots[slot].begin);
    if (begin != std::numeric_limits<int64_t>::max())
      // A slot that this section uses stays live before the section's own slots
      // begin.
      std::erase_if(alive, [&](uint32_t slot) {
        return dynamic.slots[slot].end < begin && user[slot] != &section;
      });
    section.before = alive;
    for (uint32_t slot : section.owned)
      if (dynamic.slots[slot].space == BufferSpace::Arena)
        alive.push_back(slot);
  }
}

void DynamicInstance::restart() {
  if (all.size() == 1)
    return;
  parameters = givenSizes;
  for (size_t i = 0; i < made->outputs.size(); ++i)
    made->outputs[i].shape = source->outputs[i].shape;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

Error DynamicInstance::wrong(const SizeExpression &size,
                             const std::string &what) const {
  const std::string given = textOf(dynamic, parameters);
  return usageError((given.empty() ? "" : "with " + given + ", ") +
                    size.text(dynamic.parameters) + " is " + what);
}

/// A size, which is known here and not negative.
Result<int64_t> DynamicInstance::valueOf(const SizeExpression &size) const {
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
DynamicInstance::shapeOf(const std::vector<SizeExpression> &sizes) const {
  Shape shape;
  for (const SizeExpression &size : sizes) {
    Result<int64_t> value = valueOf(size);
    if (!value)
      return value.takeError();
    shape.push_back(*value);
  }
  return shape;
}

/// Inputs and outputs of known sizes.
Result<void> DynamicInstance::setTensors() {
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
  if (Result<void> done = set(made->inputs, dynamic.inputs); !done)
    return done;
  return set(made->outputs, dynamic.outputs);
}

/// Unknown entries are 0: no kernel of the section reads them. Values that are
/// no sizes may be negative.
/// no sizes may be negative.
Result<void> DynamicInstance::setTable() {
  for (size_t i = 0; i < dynamic.sizes.size(); ++i) {
    int64_t size = 0;
    if (const std::optional<int64_t> number = dynamic.sizes[i].number()) {
      size = *number;
    } else if (knownSize(dynamic.sizes[i], parameters)) {
      Result<int64_t> value = valueOf(dynamic.sizes[i]);
      if (!value)
        return value.takeError();
      size = *value;
    }
    std::memcpy(table->mutableBytes() + i * sizeof(int64_t), &size,
                sizeof(int64_t));
  }
  return {};
}

const BufferReference *DynamicInstance::sizesFrom(size_t number) const {
  return all[number].definition ? &all[number].sizesFrom : nullptr;
}

Result<void> DynamicInstance::define(size_t number, const std::byte *numbers) {
  const size_t step = *all[number].definition;
  const ElementType type = source->steps[step].tensors[0].type;
  for (const SizeDefinition &each : dynamic.steps[step].defines) {
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
      return invalidModel(dynamic.parameters[each.parameter] + " is " +
                          std::to_string(value) + ", which is no size");
    parameters[each.parameter] = value;
  }
  if (Result<void> done = setFollowing(dynamic, parameters); !done)
    return done;
  return checkGuards(*source, parameters);
}

//===----------------------------------------------------------------------===//
// Sections
//===----------------------------------------------------------------------===//

Result<DynamicInstance::Section> DynamicInstance::section(size_t number) {
  SectionState &section = all[number];
  // A single section has no slots of earlier ones.
  if (all.size() == 1 && section.madeFor == parameters)
    return Section{section.steps, false};
  std::vector<uint64_t> offsets;
  for (uint32_t slot : section.before)
    offsets.push_back(places[slot].offset);
  if (Result<void> done = setTensors(); !done)
    return done.takeError();
  const bool isNew =
      section.madeFor != parameters || section.offsetsBefore != offsets;
  if (isNew) {
    section.madeFor.reset();
    if (Result<void> done = setPlaces(section); !done)
      return done.takeError();
    if (all.size() > 1 || !largest || !placeAsIn(*largest))
      placeInArena(section);
    section.steps.clear();
    const size_t count = section.last - section.first;
    if (Result<void> done =
            addSteps(std::span(source->steps).subspan(section.first, count),
                     std::span(dynamic.steps).subspan(section.first, count),
                     section.steps);
        !done)
      return done.takeError();
    if (section.definition) {
      Step step = source->steps[*section.definition];
      if (Result<void> done = setBuffers(step); !done)
        return done.takeError();
      const ElementType type = step.tensors[0].type;
      section.sizesFrom = step.buffers[0];
      for (const SizeDefinition &each :
           dynamic.steps[*section.definition].defines)
        if ((type != ElementType::I64 && type != ElementType::I32) ||
            static_cast<uint64_t>(each.element) >=
                section.sizesFrom.bytes / byteSize(type))
          return noSense();
    }
    section.madeFor = parameters;
    section.offsetsBefore = std::move(offsets);
  }
  // The table holds the sizes that are known now.
  if (all.size() > 1 || isNew)
    if (Result<void> done = setTable(); !done) {
      section.madeFor.reset();
      return done.takeError();
    }
  made->arenaBytes = section.arenaBytes;
  return Section{section.steps, isNew};
}

/// Sizes of the slots that the section uses first.
Result<void> DynamicInstance::setPlaces(const SectionState &section) {
  for (uint32_t number : section.owned) {
    const DynamicSlot &slot = dynamic.slots[number];
    Result<int64_t> bytes = valueOf(slot.bytes);
    if (!bytes)
      return bytes.takeError();
    BufferReference &place = places[number];
    place.space = slot.space;
    place.index = slot.index;
    place.bytes = static_cast<uint64_t>(*bytes);
    if (slot.most != 0)
      place.bytes = std::min(place.bytes, slot.most);
    if (place.bytes > mostTensorBytes)
      return wrong(slot.bytes, "too large");
  }
  return {};
}

void DynamicInstance::placeInArena(SectionState &section) {
  ArenaPlan plan;
  for (uint32_t slot : section.before)
    plan.addPlaced(places[slot].bytes, dynamic.slots[slot].begin,
                   dynamic.slots[slot].end, places[slot].offset);
  for (uint32_t number : section.owned) {
    const DynamicSlot &slot = dynamic.slots[number];
    if (slot.space == BufferSpace::Arena)
      plan.add(places[number].bytes, slot.begin, slot.end);
    else
      plan.add(0, -1, -1);
  }
  section.arenaBytes = plan.place();
  for (size_t i = 0; i < section.owned.size(); ++i)
    if (places[section.owned[i]].space == BufferSpace::Arena)
      places[section.owned[i]].offset =
          plan.offsetOf(section.before.size() + i);
}

/// All slots of a single section, unless one is larger than in the plan.
bool DynamicInstance::placeAsIn(const SlotPlan &plan) {
  for (size_t i = 0; i < places.size(); ++i)
    if (places[i].bytes > plan.bytes[i])
      return false;
  for (size_t i = 0; i < places.size(); ++i)
    places[i].offset = plan.offsets[i];
  all.front().arenaBytes = plan.arenaBytes;
  return true;
}

Result<void> DynamicInstance::setBuffers(Step &step) const {
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
struct DynamicInstance::Turn {
  int64_t first = 0, count = 1;
};

/// Whether a body may be selected with these sizes.
bool DynamicInstance::isTaken(const DynamicStep &step, size_t body) const {
  return body >= step.fits.size() ||
         std::ranges::all_of(step.fits[body], [&](const SizeExpression &size) {
           return knownSize(size, parameters) == 0;
         });
}

Result<void> DynamicInstance::addSteps(std::span<const Step> from,
                                       std::span<const DynamicStep> sizes,
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

/// The first step of \p from and the steps that alternate with it.
Result<void> DynamicInstance::addTurns(std::span<const Step> from,
                                       std::span<const DynamicStep> sizes,
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

Result<void> DynamicInstance::addStep(const Step &from,
                                      const DynamicStep &sizes,
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
  // A step without elements is left out.
  if (!isEmpty)
    to.push_back(std::move(step));
  return {};
}

/// The tasks of a kernel, their work, and its contract.
Result<void> DynamicInstance::setWork(Step &step, const DynamicStep &sizes,
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
  // A round of static size has its first task already.
  int64_t before = 0;
  if (__builtin_mul_overflow(turn.first, tasks, &before) ||
      __builtin_add_overflow(before, step.firstTask, &step.firstTask) ||
      __builtin_mul_overflow(turn.count, tasks, &step.tasks))
    return wrong(sizes.round.size, "too large");
  Result<int64_t> units = valueOf(sizes.units);
  if (!units)
    return units.takeError();
  step.flops = static_cast<double>(*units) * static_cast<double>(turn.count) *
               sizes.flopsPerUnit;
  if (sizes.firstSize > dynamic.sizes.size() ||
      sizes.sizeCount > dynamic.sizes.size() - sizes.firstSize)
    return noSense();
  constexpr uint64_t each = sizeof(int64_t);
  if (sizes.sizeCount != 0)
    step.buffers.push_back({BufferSpace::Constant, BufferAccess::In,
                            tableConstant, sizes.firstSize * each,
                            sizes.sizeCount * each});
  return setContract(step);
}

/// The contract of generic code, for these sizes.
Result<void> DynamicInstance::setContract(const Step &step) {
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
