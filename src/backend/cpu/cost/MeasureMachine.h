//===- MeasureMachine.h - what one thread of this machine can do at most
//---===//

#ifndef SINTER_BACKEND_CPU_COST_MEASUREMACHINE_H
#define SINTER_BACKEND_CPU_COST_MEASUREMACHINE_H

#include "backend/cpu/target/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/MachineCeilings.h"
#include "runtime/Result.h"

#include <functional>

namespace sinter::cpu {

/// Measures with kernels made for the purpose (cost/Ceilings.h), in about
/// \p seconds altogether; each figure is that of the fastest of many runs. What
/// the machine lacks (a third cache, matrix units, integer products that are
/// known here)
/// is left out. System errors: no memory.
Result<MachineCeilings> measureMachine(double seconds);

/// The same for the machine \p target, which this one is; \p onCode is called
/// with the kernels before they are compiled, for tests.
Result<MachineCeilings>
measureMachine(double seconds, const Target &target,
               const std::function<void(mlir::ModuleOp)> &onCode);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_COST_MEASUREMACHINE_H
