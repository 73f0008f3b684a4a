//===- ProgramPlan.h - memory and work of a compiled program --------------===//

#ifndef SINTER_DRIVER_PROGRAMPLAN_H
#define SINTER_DRIVER_PROGRAMPLAN_H

#include "runtime/Program.h"

#include <nlohmann/json_fwd.hpp>

namespace sinter::driver {

/// Bytes by memory space, steps and their work; `program` has every step with
/// its operands.
nlohmann::json planJson(const Program &program);

/// The same as text on standard output; \p withSteps: each step, too.
void printPlan(const Program &program, bool withSteps);

} // namespace sinter::driver

#endif // SINTER_DRIVER_PROGRAMPLAN_H
