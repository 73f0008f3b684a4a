//===- ProgramExecutorSizes.cpp - programs of dynamic sizes ---------------===//

#include "runtime/DynamicProgram.h"
#include "runtime/MachineMemory.h"
#include "runtime/ProgramExecutor.h"
#include "runtime/ProgramMemory.h"

#include <algorithm>
#include <cstring>

namespace sinter {

/// Allocates memory for the largest sizes, if all have a bound and follow from
/// inputs.
Result<void> ProgramExecutor::takeLargest() {
  if (std::ranges::any_of(dynamic->steps, [](const Step &step) {
        return step.kind == StepKind::Size;
      }))
    return {};
  std::vector<int64_t> most;
  for (const std::string &name : dynamic->dynamic->parameters) {
    const auto bound = options.most.find(name);
    most.push_back(bound == options.most.end() ? unknownParameter
                                               : bound->second);
  }
  // Sizes that follow from others grow with them, or else offsets are assigned
  // again.
  if (Result<void> done = setFollowing(*dynamic->dynamic, most); !done)
    return done;
  // Contradicting sizes have no program.
  if (std::ranges::any_of(most, [](int64_t size) { return size < 0; }) ||
      !checkGuards(*dynamic, most))
    return {};
  Result<SlotPlan> plan = DynamicInstance::planOf(dynamic, std::move(most));
  if (!plan)
    return plan.takeError();
  if (const uint64_t memory = memoryOfMachine(); plan->arenaBytes > memory)
    return systemError("at the largest sizes all temporaries take " +
                       inGigabytes(plan->arenaBytes) + "; this machine has " +
                       inGigabytes(memory) + " of memory");
  if (Result<void> grown = arena.grow(plan->arenaBytes); !grown)
    return grown;
  largest = std::move(*plan);
  return {};
}

/// Makes `compiled` the instance for the sizes of \p inputs.
Result<void> ProgramExecutor::setSizes(std::span<const Tensor> inputs) {
  // The sizes of the last run, which determine everything.
  if (instance && instance->sections() == 1 && fit(compiled->inputs, inputs))
    return {};
  Result<std::vector<int64_t>> wanted = parametersOf(*dynamic, inputs);
  if (!wanted)
    return wanted.takeError();
  if (instance && *wanted == instance->given()) {
    instance->restart();
    return {};
  }
  auto other = DynamicInstance::create(dynamic, std::move(*wanted),
                                       largest ? &*largest : nullptr);
  if (!other)
    return other.takeError();
  // Texts of the last run's layers are its steps'.
  times.clear();
  made.clear();
  hostFunctions.clear();
  goesBack.clear();
  instance = std::move(*other);
  compiled = instance->program();
  staging.resize(compiled->inputs.size());
  inputData.resize(compiled->inputs.size());
  return {};
}

/// The new steps of section \p number can be run after that.
Result<void> ProgramExecutor::makeReady(std::span<const Step> steps,
                                        size_t number) {
  if (Result<void> fits = checkMemoryFor(*compiled, steps); !fits)
    return fits;
  if (Result<void> sound = verifySteps(*compiled, steps); !sound)
    return sound;
  // Temporaries of earlier sections keep their offsets.
  if (Result<void> grown =
          arena.grow(compiled->arenaBytes, number == 0 ? 0 : arena.size());
      !grown)
    return grown;
  if (Result<void> grown = growScratch(steps); !grown)
    return grown;
  // Sections are instantiated again, and the memory of their steps reused:
  // facts on steps are cached only if there is one section.
  hostFunctions.clear();
  goesBack.clear();
  return instance->sections() == 1 ? prepareSteps(steps) : Result<void>();
}

/// Whether \p steps of a program with \p slots write to state \p index.
static bool writesState(std::span<const Step> steps,
                        std::span<const DynamicSlot> slots, size_t index) {
  auto isState = [&](const BufferReference &buffer) {
    return buffer.access != BufferAccess::In && buffer.offset < slots.size() &&
           slots[buffer.offset].space == BufferSpace::State &&
           slots[buffer.offset].index == index;
  };
  return std::ranges::any_of(steps, [&](const Step &step) {
    return std::ranges::any_of(step.buffers, isState) ||
           std::ranges::any_of(step.bodies, [&](const auto &body) {
             return writesState(body, slots, index);
           });
  });
}

/// Allocates copies of states that are written before the last size is known.
void ProgramExecutor::findStatesToSave() {
  std::span<const Step> steps = dynamic->steps;
  while (!steps.empty() && steps.back().kind != StepKind::Size)
    steps = steps.first(steps.size() - 1);
  for (size_t i = 0; i < stateTensors.size(); ++i)
    if (writesState(steps, dynamic->dynamic->slots, i))
      savedStates.emplace_back(i, makeTensor(stateSpecs[i]));
}

/// Saves the states that may have to be restored.
void ProgramExecutor::saveStates() {
  for (auto &[index, saved] : savedStates)
    if (saved.bytes() != 0)
      std::memcpy(saved.mutableBytes(), stateTensors[index].data(),
                  saved.bytes());
}

/// The \p error of a run for computed sizes, with these sizes.
Error ProgramExecutor::beyond(Error error) {
  beyondLimits =
      error.kind == ErrorKind::Usage || error.kind == ErrorKind::InvalidModel;
  for (const auto &[index, saved] : savedStates)
    if (saved.bytes() != 0)
      std::memcpy(stateTensors[index].mutableBytes(), saved.data(),
                  saved.bytes());
  return error;
}

Result<std::vector<std::optional<Shape>>>
ProgramExecutor::outputShapes(std::span<const Shape> shapes) const {
  if (!dynamic)
    return Executor::outputShapes(shapes);
  Result<std::vector<Tensor>> inputs = shapesAsTensors(dynamic->inputs, shapes);
  if (!inputs)
    return inputs.takeError();
  Result<std::vector<int64_t>> parameters = parametersOf(*dynamic, *inputs);
  if (!parameters)
    return parameters.takeError();
  if (Result<void> within = checkGuards(*dynamic, *parameters); !within)
    return within.takeError();
  std::vector<std::optional<Shape>> known;
  for (size_t i = 0; i < dynamic->outputs.size(); ++i) {
    std::optional<Shape> &shape = known.emplace_back(Shape());
    for (const SizeExpression &size : dynamic->dynamic->outputs[i]) {
      const std::optional<int64_t> value = knownSize(size, *parameters);
      if (!value) {
        shape.reset();
        break;
      }
      if (*value < 0)
        return usageError("a size of output '" + dynamic->outputs[i].name +
                          "', " + size.text(dynamic->dynamic->parameters) +
                          ", would be negative or too large");
      shape->push_back(*value);
    }
  }
  return known;
}

Result<void> ProgramExecutor::runSections() {
  saveStates();
  for (size_t i = 0; i < instance->sections(); ++i) {
    Result<DynamicInstance::Section> section = instance->section(i);
    if (!section)
      return beyond(section.takeError());
    if (section->isNew) {
      if (Result<void> ready = makeReady(section->steps, i); !ready) {
        // Otherwise later runs would take it for instantiated.
        instance.reset();
        return ready;
      }
    }
    makeOutputs();
    if (Result<void> done = runSteps(section->steps, 0); !done)
      return done;
    if (const BufferReference *sizes = instance->sizesFrom(i))
      if (Result<void> done = instance->define(i, address(*sizes, 0)); !done)
        return beyond(done.takeError());
  }
  return {};
}

} // namespace sinter
