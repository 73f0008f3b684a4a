//===- OpenPlan.cpp - the memory and the work of a program of all sizes ---===//

#include "driver/OpenPlan.h"

#include "driver/PlanNames.h"
#include "driver/Text.h"
#include "runtime/OpenProgram.h"
#include "runtime/ProgramMemory.h"
#include "runtime/Role.h"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace sinter::driver {

namespace {

/// A sum of sizes; nothing once it has more terms than are told.
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

/// How the numbers of an open program read.
class OpenPlan {
public:
  explicit OpenPlan(const Program &program)
      : program(program), open(*program.open) {
    for (const OpenSlot &slot : open.slots) {
      if (slot.space == BufferSpace::Input)
        inputBytes.add(slot.bytes);
      else if (slot.space == BufferSpace::Output)
        outputBytes.add(slot.bytes);
    }
    for (size_t i = 0; i < open.steps.size(); ++i) {
      flops.add(flopsOf(open.steps[i]));
      bytesMoved.add(bytesMovedBy(program.steps[i]));
    }
  }

  nlohmann::json json(const std::optional<SizeExpression> &size) const {
    if (!size)
      return {};
    if (const std::optional<int64_t> number = size->number())
      return *number;
    return size->text(open.parameters);
  }
  std::string text(const std::optional<SizeExpression> &size) const {
    return size ? size->text(open.parameters) : "?";
  }

  /// Nothing for a part of an operation a unit.
  static std::optional<SizeExpression> flopsOf(const OpenStep &step) {
    const double each = step.flopsPerUnit;
    if (each != std::trunc(each) || std::abs(each) > 1e15)
      return std::nullopt;
    return SizeExpression::productOf(step.units, static_cast<int64_t>(each));
  }

  const OpenSlot *slotOf(const BufferReference &buffer) const {
    return buffer.offset < open.slots.size() ? &open.slots[buffer.offset]
                                             : nullptr;
  }

  std::optional<SizeExpression> bytesMovedBy(const Step &step) const {
    Sum bytes;
    for (const BufferReference &buffer : step.buffers)
      if (const OpenSlot *slot = slotOf(buffer);
          slot && slot->space != BufferSpace::Scratch)
        bytes.add(slot->bytes);
    return bytes.get();
  }

  /// "ceil(N*sequence/64)*4".
  std::string tasksText(const OpenStep &step) const {
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
  nlohmann::json tasksJson(const OpenStep &step) const {
    const std::string product = tasksText(step);
    if (const std::optional<int64_t> number = parseSize(product))
      return *number;
    return product;
  }

  std::vector<std::string> limits() const {
    std::vector<std::string> texts;
    for (const SizeExpression &limit : open.limits)
      texts.push_back(text(limit));
    return texts;
  }

  const Program &program;
  const OpenProgram &open;
  Sum inputBytes, outputBytes, flops, bytesMoved;
};

nlohmann::json operandJson(const OpenPlan &plan,
                           const BufferReference &buffer) {
  const OpenSlot *slot = plan.slotOf(buffer);
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

nlohmann::json stepsJson(const OpenPlan &plan) {
  nlohmann::json list = nlohmann::json::array();
  for (size_t i = 0; i < plan.open.steps.size(); ++i) {
    const Step &step = plan.program.steps[i];
    const OpenStep &sizes = plan.open.steps[i];
    nlohmann::json json = {{"step", i},
                           {"kind", kindName(step.kind)},
                           {"layer", step.layer},
                           {"op", step.op},
                           {"kernel", step.kernelName},
                           {"tasks", plan.tasksJson(sizes)},
                           {"flops", plan.json(OpenPlan::flopsOf(sizes))},
                           {"bytes_moved", plan.json(plan.bytesMovedBy(step))},
                           {"operands", nlohmann::json::array()}};
    for (const BufferReference &buffer : step.buffers)
      json["operands"].push_back(operandJson(plan, buffer));
    list.push_back(std::move(json));
  }
  return list;
}

void printStep(const OpenPlan &plan, size_t number) {
  const Step &step = plan.program.steps[number];
  std::string what = step.op.empty() ? kindName(step.kind) : step.op;
  if (!step.kernelName.empty())
    what += " by " + step.kernelName;
  std::printf("  %zu  '%s'  %s, %s tasks\n", number,
              oneLine(step.layer).c_str(), oneLine(what).c_str(),
              oneLine(plan.tasksText(plan.open.steps[number])).c_str());
  for (const BufferReference &buffer : step.buffers) {
    const OpenSlot *slot = plan.slotOf(buffer);
    if (!slot)
      continue;
    std::string place = spaceName(slot->space);
    if (const std::string tensor =
            tensorName(plan.program, slot->space, slot->index);
        !tensor.empty())
      place += " '" + tensor + "'";
    else if (slot->space == BufferSpace::Constant)
      place += " " + std::to_string(slot->index);
    std::printf("        %-5s %s bytes  %s\n", accessName(buffer.access),
                oneLine(plan.text(slot->bytes)).c_str(),
                oneLine(place).c_str());
  }
}

} // namespace

nlohmann::json openPlanJson(const Program &program) {
  const OpenPlan plan(program);
  const ProgramMemory memory = memoryOf(program);
  return {{"parameters", plan.open.parameters},
          {"limits", plan.limits()},
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
          {"program", stepsJson(plan)}};
}

void printOpenPlan(const Program &program, bool withSteps) {
  const OpenPlan plan(program);
  const ProgramMemory memory = memoryOf(program);
  std::string names;
  for (const std::string &parameter : plan.open.parameters)
    names += (names.empty() ? "" : ", ") + oneLine(parameter);
  const auto row = [](const char *what, const std::string &bytes) {
    std::printf("  %-12s %s\n", what, oneLine(bytes).c_str());
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
  std::printf("one program for all sizes of %s\n", names.c_str());
  for (const std::string &limit : plan.limits())
    std::printf("  where %s is not negative\n", oneLine(limit).c_str());
  std::printf("work        %s operations, %s moved, in %zu steps of %zu "
              "different kernels\n",
              plan.text(plan.flops.get()).c_str(),
              sized(plan.bytesMoved).c_str(), program.steps.size(),
              program.code.entries.size());
  std::printf("memory plan\n");
  row("constants", bytes(memory.constants));
  row("arena", "as the sizes need that it is run with");
  row("inputs", sized(plan.inputBytes));
  row("outputs", sized(plan.outputBytes));
  row("states", bytes(memory.states));
  row("code", bytes(program.code.text.size));
  if (!withSteps)
    return;
  std::printf("steps\n");
  for (size_t i = 0; i < program.steps.size(); ++i)
    printStep(plan, i);
}

} // namespace sinter::driver
