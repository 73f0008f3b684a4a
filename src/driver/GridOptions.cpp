#include "driver/GridOptions.h"

#include <CLI/CLI.hpp>

namespace sinter::driver {

void addGrid(CLI::App &app, GridOptions &options) {
  constexpr uint32_t most = 4096;
  app.add_option("--replicas", options.replicas,
                 "run in several processes, this many replicas: threads of "
                 "this process, or the processes of mpirun; {rank}, {replica} "
                 "and {partition} in --input stand for their indices")
      ->check(CLI::Range(1u, most))
      ->group("Processes");
  app.add_option("--partitions", options.partitions,
                 "partitions of each replica")
      ->check(CLI::Range(1u, most))
      ->capture_default_str()
      ->needs("--replicas")
      ->group("Processes");
  app.add_flag("--mpi", options.mpi, "use MPI (the default under mpirun)")
      ->needs("--replicas")
      ->group("Processes");
  app.add_option("--infeed", options.infeed,
                 "what stablehlo.infeed gives each process, in order")
      ->type_name("FILE.npy")
      ->needs("--replicas")
      ->group("Processes");
}

InputOptions inputsOf(const InputOptions &inputs, const ProcessGrid &grid,
                      Rank rank) {
  InputOptions own = inputs;
  for (std::string &input : own.inputs)
    input = forProcess(std::move(input), grid, rank);
  return own;
}

} // namespace sinter::driver
