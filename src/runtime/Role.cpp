#include "runtime/Role.h"

namespace sinter {

std::string_view name(Role role) {
  switch (role) {
  case Role::Constant:
    return "constant";
  case Role::Input:
    return "input";
  case Role::Output:
    return "output";
  case Role::State:
    return "state";
  case Role::Temporary:
    return "temporary";
  }
  __builtin_unreachable();
}

Transfer transferBefore(Role role, bool isPartlyWritten) {
  switch (role) {
  case Role::Constant:
  case Role::State:
    return Transfer::OnceAtLoad;
  case Role::Input:
    return Transfer::EachRun;
  case Role::Output:
    return isPartlyWritten ? Transfer::EachRun : Transfer::Never;
  case Role::Temporary:
    return Transfer::Never;
  }
  __builtin_unreachable();
}

Transfer transferAfter(Role role) {
  return role == Role::Output  ? Transfer::EachRun
         : role == Role::State ? Transfer::WhenAsked
                               : Transfer::Never;
}

Role roleOf(BufferSpace space) {
  switch (space) {
  case BufferSpace::Constant:
    return Role::Constant;
  case BufferSpace::Input:
    return Role::Input;
  case BufferSpace::Output:
    return Role::Output;
  case BufferSpace::State:
    return Role::State;
  case BufferSpace::Arena:
  case BufferSpace::Scratch:
    return Role::Temporary;
  }
  __builtin_unreachable();
}

bool isPartlyWritten(const Program &program, uint32_t index) {
  const TensorSpec &spec = program.outputs[index];
  const auto bytes =
      static_cast<uint64_t>(byteCount(spec.type, spec.shape).value_or(0));
  for (const Step &step : program.steps)
    for (const BufferReference &buffer : step.buffers)
      if (buffer.space == BufferSpace::Output && buffer.index == index)
        return buffer.access != BufferAccess::Out || buffer.bytes != bytes;
  // Not written at all, or in bodies, which may not run.
  return bytes != 0;
}

} // namespace sinter
