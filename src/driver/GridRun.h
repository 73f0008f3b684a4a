//===- GridRun.h - a model as a grid of processes -------------------------===//

#ifndef SINTER_DRIVER_GRIDRUN_H
#define SINTER_DRIVER_GRIDRUN_H

#include "driver/Inputs.h"
#include "engine/Session.h"
#include "runtime/Communicator.h"

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace sinter::driver {

struct GridOptions {
  /// Zero where the user does not ask for a grid.
  uint32_t replicas = 0, partitions = 1;
  bool mpi = false;
  std::vector<std::string> infeed;

  bool isGrid() const { return replicas > 0; }
  ProcessGrid grid() const { return {replicas, partitions}; }
};

/// --replicas, --partitions, --mpi, --infeed
void addGrid(CLI::App &app, GridOptions &options);

/// What one process gave.
struct ProcessResult {
  Rank rank = 0;
  std::vector<Tensor> outputs;
  std::vector<Tensors> outfeed;
  /// What its states hold at the end, in order.
  std::vector<Tensor> states;
};

/// What each process is given.
struct ProcessInputs {
  /// Its inputs.
  std::function<Result<std::vector<Tensor>>(Rank)> tensors;
  /// Puts what its states hold at first into its executor.
  std::function<Result<void>(Rank, Executor &)> states;
};

/// \p text with {rank}, {replica} and {partition} replaced.
std::string forProcess(std::string text, const ProcessGrid &grid, Rank rank);
/// The inputs with these replaced in their names.
InputOptions inputsOf(const InputOptions &inputs, const ProcessGrid &grid,
                      Rank rank);

/// Runs the session's model, which prepare() made ready, as the processes of a
/// grid: under mpirun as the one that this process is, else all of them as
/// threads.
Result<std::vector<ProcessResult>> runGrid(Session &session,
                                           const GridOptions &options,
                                           bool isInterpreter,
                                           const ProcessInputs &inputs);

} // namespace sinter::driver

#endif // SINTER_DRIVER_GRIDRUN_H
