//===- MpiCommunicator.h - communication by MPI ---------------------------===//
//
// The only part of Sinter that uses MPI, in a shared library of its own
// (libsinter-mpi.so), which is loaded if mpirun started the program.
//
// Values without a receiver (send without source_target_pairs) go to all other
// processes; those that do not ask for them drop them.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_MPI_MPICOMMUNICATOR_H
#define SINTER_RUNTIME_MPI_MPICOMMUNICATOR_H

#include "runtime/Communicator.h"

#include <memory>

namespace sinter {

/// The two symbols of the library. The first starts MPI, which must have as
/// many processes as the program; the other returns the contract that it was
/// built for (runtime/LibraryContract.h).
inline constexpr const char *mpiEntry = "sinterMpi";
using MpiEntry = void(const ProcessGrid &grid,
                      Result<std::unique_ptr<Communicator>> &result);
inline constexpr const char *mpiContractEntry = "sinterMpiContract";
using MpiContractEntry = const char *();

} // namespace sinter

#endif // SINTER_RUNTIME_MPI_MPICOMMUNICATOR_H
