//===- PlanNames.h - names of steps, buffers and memory spaces ------------===//

#ifndef SINTER_DRIVER_PLANNAMES_H
#define SINTER_DRIVER_PLANNAMES_H

#include "runtime/Program.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace sinter::driver {

const char *kindName(StepKind kind);
const char *accessName(BufferAccess access);
const char *spaceName(BufferSpace space);
/// The name of input, output or state \p index; empty for other memory.
std::string tensorName(const Program &program, BufferSpace space,
                       uint32_t index);

/// The operation of \p step, and its kernel or function.
std::string workText(const Step &step);
/// Adds the keys that only host calls have.
void addHostCall(const Step &step, nlohmann::json &json);

} // namespace sinter::driver

#endif // SINTER_DRIVER_PLANNAMES_H
