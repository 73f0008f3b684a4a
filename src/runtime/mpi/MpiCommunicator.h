//===- MpiCommunicator.h - the processes of a grid under MPI --------------===//
//
// The one part of Sinter that knows MPI, in a shared library of its own
// (libsinter-mpi.so) that is loaded where mpirun started the program.
//
// Values without a receiver (send without source_target_pairs) go to all other
// processes; those that do not ask for them forget them.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_MPI_MPICOMMUNICATOR_H
#define SINTER_RUNTIME_MPI_MPICOMMUNICATOR_H

#include "runtime/Communicator.h"

#include <memory>

namespace sinter {

/// The one symbol of the library: starts MPI, whose processes must be as many
/// as the grid has.
inline constexpr const char *mpiEntry = "sinterMpi";
using MpiEntry = void(const ProcessGrid &grid,
                      Result<std::unique_ptr<Communicator>> &result);

} // namespace sinter

#endif // SINTER_RUNTIME_MPI_MPICOMMUNICATOR_H
