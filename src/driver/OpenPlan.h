//===- OpenPlan.h - the memory and the work of a program of all sizes -----===//

#ifndef SINTER_DRIVER_OPENPLAN_H
#define SINTER_DRIVER_OPENPLAN_H

#include "runtime/Program.h"

#include <nlohmann/json_fwd.hpp>

namespace sinter::driver {

/// As planJson of ProgramPlan.h, of a program whose `open` is set: what depends
/// on sizes is a text, "4*N*sequence", and what no expression says is null.
nlohmann::json openPlanJson(const Program &program);

/// The same in lines on standard output; \p withSteps: each step, too.
void printOpenPlan(const Program &program, bool withSteps);

} // namespace sinter::driver

#endif // SINTER_DRIVER_OPENPLAN_H
