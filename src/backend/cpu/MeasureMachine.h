//===- MeasureMachine.h - what one thread of this machine can do at most --===//

#ifndef SINTER_BACKEND_CPU_MEASUREMACHINE_H
#define SINTER_BACKEND_CPU_MEASUREMACHINE_H

#include "runtime/MachineCeilings.h"
#include "runtime/Result.h"

namespace sinter::cpu {

/// Measures with kernels made for the purpose (kernels/Ceilings.h), in about
/// \p seconds altogether; each figure is that of the fastest of many runs. What
/// the machine lacks (a third cache, integer products that are known here)
/// is left out. System errors: no memory.
Result<MachineCeilings> measureMachine(double seconds);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_MEASUREMACHINE_H
