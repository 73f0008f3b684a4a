//===- PlanNames.cpp - names of steps, buffers and memory spaces ----------===//

#include "driver/PlanNames.h"

#include <nlohmann/json.hpp>

namespace sinter::driver {

/// The enumerators count from 0, in the order of \p names.
template <typename Enum, size_t count>
static const char *nameAmong(const char *const (&names)[count], Enum value) {
  const auto index = static_cast<size_t>(value);
  return index < count ? names[index] : "";
}

const char *kindName(StepKind kind) {
  return nameAmong({"kernel", "copy", "if", "while", "host_call", "size"},
                   kind);
}

const char *accessName(BufferAccess access) {
  return nameAmong({"in", "out", "inout"}, access);
}

const char *spaceName(BufferSpace space) {
  return nameAmong({"arena", "constant", "input", "output", "scratch", "state"},
                   space);
}

std::string tensorName(const Program &program, BufferSpace space,
                       uint32_t index) {
  switch (space) {
  case BufferSpace::Input:
    return program.inputs[index].name;
  case BufferSpace::Output:
    return program.outputs[index].name;
  case BufferSpace::State:
    return program.states[index].spec.name;
  default:
    return "";
  }
}

std::string workText(const Step &step) {
  std::string text = step.op.empty() ? kindName(step.kind) : step.op;
  for (const std::string &how : {step.kernelName, step.hostFunction})
    text += how.empty() ? "" : " by " + how;
  return text;
}

void addHostCall(const Step &step, nlohmann::json &json) {
  if (step.kind != StepKind::HostCall)
    return;
  json["function"] = step.hostFunction;
  json["configuration"] = step.configuration;
}

} // namespace sinter::driver
