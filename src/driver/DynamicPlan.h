//===- DynamicPlan.h - memory and work of a shape-generic program ---------===//

#ifndef SINTER_DRIVER_DYNAMICPLAN_H
#define SINTER_DRIVER_DYNAMICPLAN_H

#include "runtime/Program.h"

#include <nlohmann/json_fwd.hpp>

namespace sinter::driver {

/// As planJson of ProgramPlan.h, for a dynamic program: sizes are expressions
/// as text, "4*N*sequence", or null if they are unknown.
nlohmann::json dynamicPlanJson(const Program &program);

/// The same as text on standard output; \p withSteps: each step, too.
void printDynamicPlan(const Program &program, bool withSteps);

} // namespace sinter::driver

#endif // SINTER_DRIVER_DYNAMICPLAN_H
