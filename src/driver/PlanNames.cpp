//===- PlanNames.cpp - how the parts of a program are called --------------===//

#include "driver/PlanNames.h"

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

} // namespace sinter::driver
