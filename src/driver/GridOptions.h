//===- GridOptions.h - options for several processes ----------------------===//

#ifndef SINTER_DRIVER_GRIDOPTIONS_H
#define SINTER_DRIVER_GRIDOPTIONS_H

#include "data/Inputs.h"
#include "engine/GridRun.h"

namespace CLI {
class App;
}

namespace sinter::driver {

/// --replicas, --partitions, --mpi, --infeed
void addGrid(CLI::App &app, GridOptions &options);

/// \p inputs with {rank}, {replica} and {partition} replaced in their names.
InputOptions inputsOf(const InputOptions &inputs, const ProcessGrid &grid,
                      Rank rank);

} // namespace sinter::driver

#endif // SINTER_DRIVER_GRIDOPTIONS_H
