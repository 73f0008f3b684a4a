//===- MpiLibrary.h - loads MPI where mpirun started us -------------------===//

#ifndef SINTER_ENGINE_MPILIBRARY_H
#define SINTER_ENGINE_MPILIBRARY_H

#include "runtime/Communicator.h"

#include <memory>

namespace sinter {

/// Whether mpirun started this process.
bool isUnderMpi();

/// This process's side of the grid that mpirun started. System where Sinter was
/// built without MPI; Usage where mpirun started another number of processes.
Result<std::unique_ptr<Communicator>> connectMpi(const ProcessGrid &grid);

} // namespace sinter

#endif // SINTER_ENGINE_MPILIBRARY_H
