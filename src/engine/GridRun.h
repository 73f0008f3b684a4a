//===- GridRun.h - runs a model on several processes ----------------------===//

#ifndef SINTER_ENGINE_GRIDRUN_H
#define SINTER_ENGINE_GRIDRUN_H

#include "engine/Session.h"
#include "runtime/Communicator.h"

#include <functional>
#include <string>
#include <vector>

namespace sinter {

struct GridOptions {
  /// Zero: one process.
  uint32_t replicas = 0, partitions = 1;
  /// Whether to use MPI, the default under mpirun.
  bool mpi = false;
  /// Files with the infeed of each process, in order.
  std::vector<std::string> infeed;

  bool isGrid() const { return replicas > 0; }
  ProcessGrid grid() const { return {replicas, partitions}; }
};

/// The results of one process.
struct ProcessResult {
  Rank rank = 0;
  std::vector<Tensor> outputs;
  std::vector<Tensors> outfeed;
  /// The final values of its states, in order.
  std::vector<Tensor> states;
};

/// The inputs of each process.
struct ProcessInputs {
  /// Its inputs.
  std::function<Result<std::vector<Tensor>>(Rank)> tensors;
  /// Sets the initial states of its executor.
  std::function<Result<void>(Rank, Executor &)> states;
};

/// \p text with {rank}, {replica} and {partition} replaced.
std::string forProcess(std::string text, const ProcessGrid &grid, Rank rank);

/// Runs the session's model, after prepare(), on several processes: under
/// mpirun as one of them, else all of them as threads.
Result<std::vector<ProcessResult>> runGrid(Session &session,
                                           const GridOptions &options,
                                           bool isInterpreter,
                                           const ProcessInputs &inputs);

} // namespace sinter

#endif // SINTER_ENGINE_GRIDRUN_H
