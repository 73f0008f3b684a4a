//===- PlanNames.h - how the parts of a program are called ----------------===//

#ifndef SINTER_DRIVER_PLANNAMES_H
#define SINTER_DRIVER_PLANNAMES_H

#include "runtime/Program.h"

#include <string>

namespace sinter::driver {

const char *kindName(StepKind kind);
const char *accessName(BufferAccess access);
const char *spaceName(BufferSpace space);
/// Of input, output or state \p index; empty for other memory.
std::string tensorName(const Program &program, BufferSpace space,
                       uint32_t index);

} // namespace sinter::driver

#endif // SINTER_DRIVER_PLANNAMES_H
