//===- MpiLibrary.h - loads MPI where mpirun started us -------------------===//

#ifndef SINTER_ENGINE_MPILIBRARY_H
#define SINTER_ENGINE_MPILIBRARY_H

#include "runtime/Communicator.h"

#include <memory>
#include <optional>

namespace sinter {

/// Whether mpirun started this process.
bool isUnderMpi();
/// How many processes it started; nothing where it did not, or does not say.
std::optional<uint32_t> mpiProcesses();

/// This process's side of the grid that mpirun started. System where Sinter was
/// built without MPI; Usage where mpirun started another number of processes.
Result<std::unique_ptr<Communicator>> connectMpi(const ProcessGrid &grid);

} // namespace sinter

#endif // SINTER_ENGINE_MPILIBRARY_H
