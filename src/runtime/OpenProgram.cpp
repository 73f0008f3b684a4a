//===- OpenProgram.cpp - a program of all sizes ---------------------------===//

#include "runtime/OpenProgram.h"

#include "runtime/ArenaPlan.h"

#include <algorithm>
#include <cstring>

namespace sinter {

static Error damaged() {
  return systemError("damaged program: its open sizes make no sense");
}

/// Whether each dimension of each tensor has a size.
static bool areSizesOf(const std::vector<std::vector<SizeExpression>> &sizes,
                       const std::vector<TensorSpec> &specs) {
  return std::ranges::equal(sizes, specs,
                            [](const auto &dimensions, const TensorSpec &spec) {
                              return dimensions.size() == spec.shape.size();
                            });
}

Result<void> checkOpenSizes(const Program &program) {
  const OpenProgram &open = *program.open;
  for (const std::vector<SizeExpression> &input : open.inputs)
    for (const SizeExpression &size : input)
      if (std::optional<uint32_t> parameter = size.asParameter();
          parameter && *parameter >= open.parameters.size())
        return damaged();
  for (const SizeQuotient &each : open.quotients)
    if (each.parameter >= open.parameters.size() || each.divisor < 1)
      return damaged();
  if (!areSizesOf(open.inputs, program.inputs) ||
      !areSizesOf(open.outputs, program.outputs) ||
      open.steps.size() != program.steps.size())
    return damaged();
  return {};
}

static std::string dimensionOf(const TensorSpec &spec, size_t dimension) {
  return "dimension " + std::to_string(dimension) + " of input '" + spec.name +
         "'";
}

Result<std::vector<int64_t>> parametersOf(const Program &program,
                                          std::span<const Tensor> inputs) {
  const OpenProgram &open = *program.open;
  if (Result<void> fit = checkInputs(program.inputs, inputs); !fit)
    return fit.takeError();
  std::vector<int64_t> parameters(open.parameters.size(), -1);
  for (bool checks : {false, true})
    for (size_t i = 0; i < inputs.size(); ++i)
      for (size_t dim = 0; dim < inputs[i].shape().size(); ++dim) {
        const SizeExpression &size = open.inputs[i][dim];
        const int64_t given = inputs[i].shape()[dim];
        const std::optional<uint32_t> parameter = size.asParameter();
        if (!checks) {
          if (parameter && parameters[*parameter] < 0)
            parameters[*parameter] = given;
          continue;
        }
        const std::optional<int64_t> wanted = size.at(parameters);
        if (wanted != given)
          return usageError(dimensionOf(program.inputs[i], dim) + " is " +
                            size.text(open.parameters) + ", which is " +
                            (wanted ? std::to_string(*wanted) : "too large") +
                            " by the other inputs, not " +
                            std::to_string(given));
      }
  for (const SizeQuotient &each : open.quotients) {
    const std::optional<int64_t> size = each.size.at(parameters);
    if (!size)
      return usageError(each.size.text(open.parameters) + " is too large");
    parameters[each.parameter] = *size < 0 ? -1 : *size / each.divisor;
  }
  return parameters;
}

static std::string textOf(const OpenProgram &open,
                          std::span<const int64_t> parameters) {
  std::string text;
  for (size_t i = 0; i < open.parameters.size(); ++i)
    text += (i ? ", " : "") + open.parameters[i] + " = " +
            std::to_string(parameters[i]);
  return text;
}

Result<void> checkLimits(const Program &program,
                         std::span<const int64_t> parameters) {
  const OpenProgram &open = *program.open;
  for (const SizeExpression &limit : open.limits) {
    const std::optional<int64_t> value = limit.at(parameters);
    if (!value || *value < 0)
      return usageError("with " + textOf(open, parameters) + ", " +
                        limit.text(open.parameters) +
                        (value ? " is negative" : " is too large"));
  }
  return {};
}

namespace {

/// Makes the program of some sizes.
class Instance {
public:
  Instance(const Program &program, std::span<const int64_t> parameters)
      : program(program), open(*program.open), parameters(parameters),
        made(std::make_shared<Program>()) {}

  Result<std::shared_ptr<const Program>> make() {
    made->triple = program.triple;
    made->features = program.features;
    made->producer = program.producer;
    made->constants = program.constants;
    made->kernels = program.kernels;
    made->code.entries = program.code.entries;
    if (Result<void> within = checkLimits(program, parameters); !within)
      return within.takeError();
    if (!setShapes(program.inputs, open.inputs, made->inputs) ||
        !setShapes(program.outputs, open.outputs, made->outputs))
      return *error;
    if (Result<void> done = addSizes(); !done)
      return done.takeError();
    if (Result<void> done = placeSlots(); !done)
      return done.takeError();
    for (size_t i = 0; i < open.steps.size();
         i += std::max<size_t>(1, open.steps[i].inTurns)) {
      Result<void> done = open.steps[i].inTurns != 0
                              ? addTurns(i)
                              : addStep(program.steps[i], open.steps[i], {});
      if (!done)
        return done.takeError();
    }
    return std::shared_ptr<const Program>(std::move(made));
  }

private:
  Error wrong(const SizeExpression &size, const std::string &what) const {
    return usageError("with " + textOf(open, parameters) + ", " +
                      size.text(open.parameters) + " is " + what);
  }

  /// A size, which is not negative.
  Result<int64_t> valueOf(const SizeExpression &size) const {
    const std::optional<int64_t> value = size.at(parameters);
    if (!value)
      return wrong(size, "too large");
    if (*value < 0)
      return wrong(size, "negative");
    return *value;
  }

  bool setShapes(const std::vector<TensorSpec> &specs,
                 const std::vector<std::vector<SizeExpression>> &sizes,
                 std::vector<TensorSpec> &result) {
    for (size_t i = 0; i < specs.size(); ++i) {
      TensorSpec spec = specs[i];
      spec.shape.clear();
      for (const SizeExpression &size : sizes[i]) {
        Result<int64_t> value = valueOf(size);
        if (!value) {
          error = value.takeError();
          return false;
        }
        spec.shape.push_back(*value);
      }
      if (!byteCount(spec.type, spec.shape)) {
        error = usageError("'" + spec.name + "' would be too large");
        return false;
      }
      result.push_back(std::move(spec));
    }
    return true;
  }

  /// The table of sizes, one more constant.
  Result<void> addSizes() {
    // Aligned like any other constant.
    auto table = std::make_shared<Tensor>(
        ElementType::I64, Shape{static_cast<int64_t>(open.sizes.size())});
    for (size_t i = 0; i < open.sizes.size(); ++i) {
      Result<int64_t> value = valueOf(open.sizes[i]);
      if (!value)
        return value.takeError();
      std::memcpy(table->mutableBytes() + i * sizeof(int64_t), &*value,
                  sizeof(int64_t));
    }
    sizesConstant = static_cast<uint32_t>(made->constants.size());
    made->constants.push_back({table, {table->data(), table->bytes()}});
    return {};
  }

  Result<void> placeSlots() {
    ArenaPlan plan;
    for (const OpenSlot &slot : open.slots) {
      Result<int64_t> bytes = valueOf(slot.bytes);
      if (!bytes)
        return bytes.takeError();
      BufferReference &place = places.emplace_back();
      place.space = slot.space;
      place.index = slot.index;
      place.bytes = static_cast<uint64_t>(*bytes);
      if (slot.most != 0)
        place.bytes = std::min(place.bytes, slot.most);
      if (slot.space == BufferSpace::Arena)
        plan.add(place.bytes, slot.begin, slot.end);
      else
        plan.add(0, -1, -1);
    }
    made->arenaBytes = plan.place();
    for (size_t i = 0; i < places.size(); ++i)
      if (places[i].space == BufferSpace::Arena)
        places[i].offset = plan.offsetOf(i);
    return {};
  }

  /// Units of a round.
  struct Turn {
    int64_t first = 0, count = 1;
  };

  /// Steps from number \p first that take turns.
  Result<void> addTurns(size_t first) {
    const OpenStep &turns = open.steps[first];
    const SizePart &round = turns.round;
    if (turns.inTurns > open.steps.size() - first || round.block < 1)
      return damaged();
    Result<int64_t> units = valueOf(round.size);
    if (!units)
      return units.takeError();
    for (int64_t done = 0; done < *units;) {
      const Turn turn = {done, std::min(round.block, *units - done)};
      for (size_t i = first; i < first + turns.inTurns; ++i)
        if (Result<void> added = addStep(program.steps[i], open.steps[i], turn);
            !added)
          return added;
      done += turn.count;
    }
    return {};
  }

  Result<void> addStep(const Step &from, const OpenStep &sizes, Turn turn) {
    if (!from.bodies.empty() ||
        (from.kind != StepKind::Kernel && from.kind != StepKind::Copy))
      return damaged();
    Step step = from;
    step.bytesMoved = 0;
    for (BufferReference &buffer : step.buffers) {
      const BufferAccess access = buffer.access;
      if (buffer.offset >= places.size())
        return damaged();
      buffer = places[buffer.offset];
      buffer.access = access;
      if (buffer.space != BufferSpace::Scratch)
        step.bytesMoved += static_cast<double>(buffer.bytes);
    }
    if (from.kind == StepKind::Copy) {
      made->steps.push_back(std::move(step));
      return {};
    }
    int64_t tasks = 1;
    for (const SizePart &part : sizes.tasks) {
      Result<int64_t> size = valueOf(part.size);
      if (!size)
        return size.takeError();
      if (part.block < 1)
        return damaged();
      const int64_t parts = *size / part.block + (*size % part.block != 0);
      if (__builtin_mul_overflow(tasks, parts, &tasks))
        return wrong(part.size, "too large");
    }
    // Nothing is computed of no elements.
    if (tasks == 0)
      return {};
    if (__builtin_mul_overflow(turn.first, tasks, &step.firstTask) ||
        __builtin_mul_overflow(turn.count, tasks, &step.tasks))
      return wrong(sizes.round.size, "too large");
    Result<int64_t> units = valueOf(sizes.units);
    if (!units)
      return units.takeError();
    step.flops = static_cast<double>(*units) * static_cast<double>(turn.count) *
                 sizes.flopsPerUnit;
    if (sizes.readsSizes)
      step.buffers.push_back({BufferSpace::Constant, BufferAccess::In,
                              sizesConstant, 0,
                              made->constants[sizesConstant].bytes.size()});
    if (Result<void> done = setContract(step); !done)
      return done;
    made->steps.push_back(std::move(step));
    return {};
  }

  /// What code for all sizes takes for granted is what these sizes make of it.
  Result<void> setContract(const Step &step) {
    if (step.kernel >= made->kernels.size())
      return damaged();
    KernelContract &contract = made->kernels[step.kernel];
    if (contract.buffers.size() != step.buffers.size())
      return damaged();
    contract.tasks = std::max(contract.tasks, step.firstTask + step.tasks);
    for (size_t i = 0; i < step.buffers.size(); ++i)
      if (contract.buffers[i].bytes == 0)
        contract.buffers[i].bytes = step.buffers[i].bytes;
    return {};
  }

  const Program &program;
  const OpenProgram &open;
  std::span<const int64_t> parameters;
  std::shared_ptr<Program> made;
  std::vector<BufferReference> places;
  uint32_t sizesConstant = 0;
  std::optional<Error> error;
};

} // namespace

Result<std::shared_ptr<const Program>>
programFor(const Program &program, std::span<const int64_t> parameters) {
  return Instance(program, parameters).make();
}

} // namespace sinter
