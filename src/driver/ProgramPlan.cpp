//===- ProgramPlan.cpp - memory and work of a compiled program ------------===//

#include "driver/ProgramPlan.h"

#include "driver/DynamicPlan.h"
#include "driver/PlanNames.h"
#include "driver/Text.h"
#include "runtime/ProgramMemory.h"
#include "runtime/Role.h"

#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

namespace sinter::driver {

namespace {

/// The memory and the work of a compiled program.
struct Plan {
  ProgramMemory memory;
  size_t steps = 0;
  double flops = 0, bytesMoved = 0;
};

void addSteps(std::span<const Step> steps, Plan &plan) {
  for (const Step &step : steps) {
    ++plan.steps;
    plan.flops += step.flops;
    plan.bytesMoved += step.bytesMoved;
    for (const std::vector<Step> &body : step.bodies)
      addSteps(body, plan);
  }
}

Plan planOf(const Program &program) {
  Plan plan;
  plan.memory = memoryOf(program);
  addSteps(program.steps, plan);
  return plan;
}

/// The last writers of the arena's ranges.
class ArenaHistory {
public:
  /// The last step that wrote to a range of \p buffer, in program order;
  /// nothing for new memory. \p step replaces it.
  std::optional<size_t> overwrite(const BufferReference &buffer, size_t step) {
    std::optional<size_t> last;
    const uint64_t begin = buffer.offset, end = begin + buffer.bytes;
    if (begin == end)
      return last;
    split(begin);
    split(end);
    const auto first = writers.lower_bound(begin);
    const auto stop = writers.lower_bound(end);
    for (auto part = first; part != stop; ++part)
      if (part->second && (!last || *part->second > *last))
        last = part->second;
    writers.erase(first, stop);
    writers[begin] = step;
    return last;
  }

private:
  /// Splits a range at \p offset.
  void split(uint64_t offset) {
    const auto after = writers.upper_bound(offset);
    const auto part = std::prev(after);
    if (part->first != offset)
      writers.emplace_hint(after, offset, part->second);
  }

  /// The begins of ranges and their last writers; a range ends where the next
  /// begins.
  std::map<uint64_t, std::optional<size_t>> writers = {{0, std::nullopt}};
};

/// An operand of a step as text.
struct Operand {
  const BufferReference &buffer;
  /// The tensor's name, of an input, output or state.
  std::string name;
  /// The number of the step whose bytes it overwrites.
  std::optional<size_t> reuses;
};

/// Numbers a program's steps from 0 in the order of requests, which is the
/// order of output: steps in bodies follow the step that owns them.
class StepNumbering {
public:
  explicit StepNumbering(const Program &program) : program(program) {}

  struct NumberedStep {
    size_t number;
    std::vector<Operand> operands;
  };
  NumberedStep next(const Step &step) {
    NumberedStep numbered{count++, {}};
    for (const BufferReference &buffer : step.buffers)
      numbered.operands.push_back(operandOf(buffer, numbered.number));
    return numbered;
  }

private:
  Operand operandOf(const BufferReference &buffer, size_t step) {
    Operand operand{buffer, tensorName(program, buffer.space, buffer.index),
                    std::nullopt};
    if (buffer.space == BufferSpace::Arena &&
        buffer.access != BufferAccess::In) {
      const auto last = history.overwrite(buffer, step);
      if (buffer.access == BufferAccess::Out)
        operand.reuses = last;
    }
    return operand;
  }

  const Program &program;
  ArenaHistory history;
  size_t count = 0;
};

nlohmann::json operandJson(const Operand &operand) {
  const BufferReference &buffer = operand.buffer;
  nlohmann::json json = {{"access", accessName(buffer.access)},
                         {"space", spaceName(buffer.space)},
                         {"role", name(roleOf(buffer.space))},
                         {"index", buffer.index},
                         {"offset", buffer.offset},
                         {"bytes", buffer.bytes}};
  if (!operand.name.empty())
    json["name"] = operand.name;
  if (operand.reuses)
    json["reuses_step"] = *operand.reuses;
  return json;
}

nlohmann::json stepsJson(StepNumbering &numbering,
                         std::span<const Step> steps) {
  nlohmann::json list = nlohmann::json::array();
  for (const Step &step : steps) {
    const StepNumbering::NumberedStep numbered = numbering.next(step);
    nlohmann::json json = {{"step", numbered.number},
                           {"kind", kindName(step.kind)},
                           {"layer", step.layer},
                           {"op", step.op},
                           {"kernel", step.kernelName},
                           {"tasks", step.tasks},
                           {"flops", step.flops},
                           {"bytes_moved", step.bytesMoved},
                           {"operands", nlohmann::json::array()}};
    addHostCall(step, json);
    for (const Operand &operand : numbered.operands)
      json["operands"].push_back(operandJson(operand));
    for (const std::vector<Step> &body : step.bodies)
      json["bodies"].push_back(stepsJson(numbering, body));
    list.push_back(std::move(json));
  }
  return list;
}

std::string operandText(const Operand &operand) {
  const BufferReference &buffer = operand.buffer;
  std::string place = spaceName(buffer.space);
  if (!operand.name.empty())
    place += " '" + operand.name + "'";
  else if (buffer.space == BufferSpace::Constant)
    place += " " + std::to_string(buffer.index);
  if (buffer.space == BufferSpace::Arena || buffer.offset != 0)
    place += " at " + std::to_string(buffer.offset);
  if (operand.reuses)
    place += ", reuses step " + std::to_string(*operand.reuses);
  return text("%-5s %10llu bytes  %s", accessName(buffer.access),
              static_cast<unsigned long long>(buffer.bytes), place.c_str());
}

void printSteps(StepNumbering &numbering, std::span<const Step> steps,
                unsigned depth) {
  const std::string indent(2 + 4 * size_t(depth), ' ');
  for (const Step &step : steps) {
    const StepNumbering::NumberedStep numbered = numbering.next(step);
    printTo(stdout, "%s%zu  '%s'  %s\n", indent.c_str(), numbered.number,
            oneLine(step.layer).c_str(), workText(step).c_str());
    for (const Operand &operand : numbered.operands)
      printTo(stdout, "%s      %s\n", indent.c_str(),
              operandText(operand).c_str());
    for (size_t i = 0; i < step.bodies.size(); ++i) {
      printTo(stdout, "%s    body %zu\n", indent.c_str(), i);
      printSteps(numbering, step.bodies[i], depth + 1);
    }
  }
}

} // namespace

/// A static program.
static nlohmann::json closedPlanJson(const Program &program) {
  const Plan plan = planOf(program);
  StepNumbering numbering(program);
  return {{"arena_bytes", program.arenaBytes},
          {"peak_bytes", plan.memory.peak()},
          {"constant_bytes", plan.memory.constants},
          {"code_bytes", program.code.text.size},
          {"features", program.features},
          {"input_bytes", plan.memory.inputs},
          {"output_bytes", plan.memory.outputs},
          {"state_bytes", plan.memory.states},
          {"steps", plan.steps},
          {"kernels", program.code.entries.size()},
          {"flops", plan.flops},
          {"bytes_moved", plan.bytesMoved},
          {"program", stepsJson(numbering, program.steps)}};
}

nlohmann::json planJson(const Program &program) {
  nlohmann::json json =
      program.dynamic ? dynamicPlanJson(program) : closedPlanJson(program);
  for (const std::shared_ptr<const Program> &each : program.nested)
    json["nested"].push_back(planJson(*each));
  return json;
}

static void printClosedPlan(const Program &program, bool withSteps) {
  const Plan plan = planOf(program);
  const auto row = [](const char *what, uint64_t bytes) {
    printTo(stdout, "  %-12s %s\n", what,
            bytesText(static_cast<double>(bytes)).c_str());
  };
  printTo(stdout,
          "work        %.3f GFLOP, %s moved, in %zu steps of %zu different "
          "kernels\n",
          plan.flops / 1e9, bytesText(plan.bytesMoved).c_str(), plan.steps,
          program.code.entries.size());
  printTo(stdout, "memory plan\n");
  row("constants", plan.memory.constants);
  row("arena", program.arenaBytes);
  row("inputs", plan.memory.inputs);
  row("outputs", plan.memory.outputs);
  row("states", plan.memory.states);
  row("peak", plan.memory.peak());
  row("code", program.code.text.size);
  if (!withSteps)
    return;
  printTo(stdout, "steps\n");
  StepNumbering numbering(program);
  printSteps(numbering, program.steps, 0);
}

void printPlan(const Program &program, bool withSteps) {
  if (program.dynamic)
    printDynamicPlan(program, withSteps);
  else
    printClosedPlan(program, withSteps);
  for (size_t i = 0; i < program.nested.size(); ++i) {
    printTo(stdout, "nested program %zu\n", i);
    printPlan(*program.nested[i], withSteps);
  }
}

} // namespace sinter::driver
