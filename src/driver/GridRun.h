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
};

/// The inputs with {rank}, {replica} and {partition} in their names replaced.
InputOptions inputsOf(const InputOptions &inputs, const ProcessGrid &grid,
                      Rank rank);

/// Runs the session's model, which prepare() made ready, as the processes of a
/// grid: under mpirun as the one that this process is, else all of them as
/// threads. \p inputs gives a process's inputs.
Result<std::vector<ProcessResult>>
runGrid(Session &session, const GridOptions &options, bool isInterpreter,
        const std::function<Result<std::vector<Tensor>>(Rank)> &inputs);

} // namespace sinter::driver

#endif // SINTER_DRIVER_GRIDRUN_H
