//===- DynamicPlan.cpp - memory and work of a shape-generic program -------===//

#include "driver/DynamicPlan.h"

#include "driver/PlanNames.h"
#include "driver/Text.h"
#include "runtime/DynamicProgram.h"
#include "runtime/ProgramMemory.h"
#include "runtime/Role.h"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace sinter::driver {

namespace {

/// A sum of sizes; nothing if it has more terms than are printed.
class Sum {
public:
  void add(const std::optional<SizeExpression> &size) {
    if (total)
      total = size ? SizeExpression::sumOf(*total, *size) : size;
  }
  const std::optional<SizeExpression> &get() const { return total; }

private:
  std::optional<SizeExpression> total = SizeExpression();
};

/// Formats the numbers of a dynamic program.
class DynamicPlan {
public:
  explicit DynamicPlan(const Program &program)
      : program(program), dynamic(*program.dynamic) {
    for (const DynamicSlot &slot : dynamic.slots) {
      if (slot.space == BufferSpace::Input)
        inputBytes.add(slot.bytes);
      else if (slot.space == BufferSpace::Output)
        outputBytes.add(slot.bytes);
    }
    for (size_t i = 0; i < dynamic.steps.size(); ++i) {
      flops.add(flopsOf(dynamic.steps[i]));
      bytesMoved.add(bytesMovedBy(program.steps[i]));
    }
  }

  nlohmann::json json(const std::optional<SizeExpression> &size) const {
    if (!size)
      return {};
    if (const std::optional<int64_t> number = size->number())
      return *number;
    return size->text(dynamic.parameters);
  }
  std::string text(const std::optional<SizeExpression> &size) const {
    return size ? size->text(dynamic.parameters) : "?";
  }

  /// Nothing if there is less than one operation per unit.
  static std::optional<SizeExpression> flopsOf(const DynamicStep &step) {
    const double each = step.flopsPerUnit;
    if (each != std::trunc(each) || std::abs(each) > 1e15)
      return std::nullopt;
    return SizeExpression::productOf(step.units, static_cast<int64_t>(each));
  }

  const DynamicSlot *slotOf(const BufferReference &buffer) const {
    return buffer.offset < dynamic.slots.size() ? &dynamic.slots[buffer.offset]
                                                : nullptr;
  }

  std::optional<SizeExpression> bytesMovedBy(const Step &step) const {
    Sum bytes;
    for (const BufferReference &buffer : step.buffers)
      if (const DynamicSlot *slot = slotOf(buffer);
          slot && slot->space != BufferSpace::Scratch)
        bytes.add(slot->bytes);
    return bytes.get();
  }

  /// "ceil(N*sequence/64)*4".
  std::string tasksText(const DynamicStep &step) const {
    std::string product;
    for (const SizePart &part : step.tasks) {
      const std::optional<int64_t> number = part.size.number();
      std::string factor = text(part.size);
      if (number && part.block > 0)
        factor =
            std::to_string(*number / part.block + (*number % part.block != 0));
      else if (part.block != 1)
        factor = "ceil(" +
                 (part.size.terms().size() > 1 ? "(" + factor + ")" : factor) +
                 "/" + std::to_string(part.block) + ")";
      else if (part.size.terms().size() > 1)
        factor = "(" + factor + ")";
      if (factor != "1")
        product += (product.empty() ? "" : "*") + factor;
    }
    return product.empty() ? "1" : product;
  }
  nlohmann::json tasksJson(const DynamicStep &step) const {
    const std::string product = tasksText(step);
    if (const std::optional<int64_t> number = parseSize(product))
      return *number;
    return product;
  }

  nlohmann::json guardsJson() const {
    nlohmann::json list = nlohmann::json::array();
    for (const ShapeGuard &guard : dynamic.guards)
      list.push_back(
          {{"node", guard.node}, {"guard", guard.text(dynamic.parameters)}});
    return list;
  }

  const Program &program;
  const DynamicProgram &dynamic;
  Sum inputBytes, outputBytes, flops, bytesMoved;
};

nlohmann::json operandJson(const DynamicPlan &plan,
                           const BufferReference &buffer) {
  const DynamicSlot *slot = plan.slotOf(buffer);
  if (!slot)
    return {};
  nlohmann::json json = {{"access", accessName(buffer.access)},
                         {"space", spaceName(slot->space)},
                         {"role", name(roleOf(slot->space))},
                         {"index", slot->index},
                         {"offset", slot->space == BufferSpace::Arena
                                        ? nlohmann::json()
                                        : nlohmann::json(0)},
                         {"bytes", plan.json(slot->bytes)}};
  if (const std::string tensor =
          tensorName(plan.program, slot->space, slot->index);
      !tensor.empty())
    json["name"] = tensor;
  return json;
}

/// \p steps with the sizes \p open, numbered from \p next on.
nlohmann::json stepsJson(const DynamicPlan &plan, std::span<const Step> steps,
                         std::span<const DynamicStep> dynamic, size_t &next) {
  nlohmann::json list = nlohmann::json::array();
  for (size_t i = 0; i < dynamic.size(); ++i) {
    const Step &step = steps[i];
    const DynamicStep &sizes = dynamic[i];
    nlohmann::json json = {{"step", next++},
                           {"kind", kindName(step.kind)},
                           {"layer", step.layer},
                           {"op", step.op},
                           {"kernel", step.kernelName},
                           {"tasks", plan.tasksJson(sizes)},
                           {"flops", plan.json(DynamicPlan::flopsOf(sizes))},
                           {"bytes_moved", plan.json(plan.bytesMovedBy(step))},
                           {"operands", nlohmann::json::array()}};
    for (const BufferReference &buffer : step.buffers)
      json["operands"].push_back(operandJson(plan, buffer));
    addHostCall(step, json);
    for (size_t body = 0; body < step.bodies.size(); ++body)
      json["bodies"].push_back(
          stepsJson(plan, step.bodies[body], sizes.bodies[body], next));
    list.push_back(std::move(json));
  }
  return list;
}

void printStep(const DynamicPlan &plan, const Step &step,
               const DynamicStep &sizes, size_t number,
               const std::string &indent) {
  printTo(stdout, "%s%zu  '%s'  %s, %s tasks\n", indent.c_str(), number,
          oneLine(step.layer).c_str(), oneLine(workText(step)).c_str(),
          oneLine(plan.tasksText(sizes)).c_str());
  for (const BufferReference &buffer : step.buffers) {
    const DynamicSlot *slot = plan.slotOf(buffer);
    if (!slot)
      continue;
    std::string place = spaceName(slot->space);
    if (const std::string tensor =
            tensorName(plan.program, slot->space, slot->index);
        !tensor.empty())
      place += " '" + tensor + "'";
    else if (slot->space == BufferSpace::Constant)
      place += " " + std::to_string(slot->index);
    printTo(stdout, "%s      %-5s %s bytes  %s\n", indent.c_str(),
            accessName(buffer.access), oneLine(plan.text(slot->bytes)).c_str(),
            oneLine(place).c_str());
  }
}

void printSteps(const DynamicPlan &plan, std::span<const Step> steps,
                std::span<const DynamicStep> dynamic, size_t &next,
                unsigned depth) {
  const std::string indent(2 + 4 * size_t(depth), ' ');
  for (size_t i = 0; i < dynamic.size(); ++i) {
    printStep(plan, steps[i], dynamic[i], next++, indent);
    for (size_t body = 0; body < steps[i].bodies.size(); ++body) {
      printTo(stdout, "%s    body %zu\n", indent.c_str(), body);
      printSteps(plan, steps[i].bodies[body], dynamic[i].bodies[body], next,
                 depth + 1);
    }
  }
}

} // namespace

nlohmann::json dynamicPlanJson(const Program &program) {
  const DynamicPlan plan(program);
  const ProgramMemory memory = memoryOf(program);
  size_t next = 0;
  return {
      {"parameters", plan.dynamic.parameters},
      {"guards", plan.guardsJson()},
      {"arena_bytes", nlohmann::json()},
      {"peak_bytes", nlohmann::json()},
      {"constant_bytes", memory.constants},
      {"code_bytes", program.code.text.size},
      {"features", program.features},
      {"input_bytes", plan.json(plan.inputBytes.get())},
      {"output_bytes", plan.json(plan.outputBytes.get())},
      {"state_bytes", memory.states},
      {"steps", program.steps.size()},
      {"kernels", program.code.entries.size()},
      {"flops", plan.json(plan.flops.get())},
      {"bytes_moved", plan.json(plan.bytesMoved.get())},
      {"program", stepsJson(plan, program.steps, plan.dynamic.steps, next)}};
}

void printDynamicPlan(const Program &program, bool withSteps) {
  const DynamicPlan plan(program);
  const ProgramMemory memory = memoryOf(program);
  std::string names;
  for (const std::string &parameter : plan.dynamic.parameters)
    names += (names.empty() ? "" : ", ") + oneLine(parameter);
  const auto row = [](const char *what, const std::string &bytes) {
    printTo(stdout, "  %-12s %s\n", what, oneLine(bytes).c_str());
  };
  const auto bytes = [](uint64_t number) {
    return bytesText(static_cast<double>(number));
  };
  const auto sized = [&](const Sum &sum) {
    const auto &size = sum.get();
    const std::optional<int64_t> number = size ? size->number() : std::nullopt;
    return number ? bytes(static_cast<uint64_t>(*number))
                  : plan.text(size) + " bytes";
  };
  printTo(stdout, "one program for all sizes of %s\n", names.c_str());
  if (const size_t count = plan.dynamic.guards.size())
    printTo(stdout, "  as long as %zu shape guard%s%s\n", count,
            count == 1 ? " holds" : "s hold",
            withSteps ? "" : " (--steps lists them)");
  printTo(stdout,
          "work        %s operations, %s moved, in %zu steps of %zu "
          "different kernels\n",
          plan.text(plan.flops.get()).c_str(), sized(plan.bytesMoved).c_str(),
          program.steps.size(), program.code.entries.size());
  printTo(stdout, "memory plan\n");
  row("constants", bytes(memory.constants));
  row("arena", "as the sizes need that it is run with");
  row("inputs", sized(plan.inputBytes));
  row("outputs", sized(plan.outputBytes));
  row("states", bytes(memory.states));
  row("code", bytes(program.code.text.size));
  if (!withSteps)
    return;
  printTo(stdout, "shape guards\n");
  for (const ShapeGuard &guard : plan.dynamic.guards)
    printTo(stdout, "  '%s'  %s\n", oneLine(guard.node).c_str(),
            oneLine(guard.text(plan.dynamic.parameters)).c_str());
  printTo(stdout, "steps\n");
  size_t next = 0;
  printSteps(plan, program.steps, plan.dynamic.steps, next, 0);
}

} // namespace sinter::driver
