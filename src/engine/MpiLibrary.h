//===- MpiLibrary.h - loads MPI under mpirun ------------------------------===//

#ifndef SINTER_ENGINE_MPILIBRARY_H
#define SINTER_ENGINE_MPILIBRARY_H

#include "runtime/Communicator.h"

#include <memory>
#include <optional>

namespace sinter {

/// Whether mpirun started this process.
bool isUnderMpi();
/// The number of its processes; nothing if there is no mpirun, or it is
/// unknown.
std::optional<uint32_t> mpiProcesses();

/// The index of this process among them; nothing likewise.
std::optional<uint32_t> mpiRank();

/// The communicator of this process under mpirun. System if Sinter was built
/// without MPI; Usage if mpirun started another number of processes.
Result<std::unique_ptr<Communicator>> connectMpi(const ProcessGrid &grid);

} // namespace sinter

#endif // SINTER_ENGINE_MPILIBRARY_H
