#include "driver/GridRun.h"

#include "driver/States.h"
#include "engine/MpiLibrary.h"
#include "runtime/HostContextUser.h"
#include "runtime/Npy.h"
#include "runtime/ThreadGroup.h"

#include <CLI/CLI.hpp>
#include <mutex>

namespace sinter::driver {

void addGrid(CLI::App &app, GridOptions &options) {
  constexpr uint32_t most = 4096;
  app.add_option(
         "--replicas", options.replicas,
         "run as a grid of processes, this many replicas of it: threads "
         "of this process, or under mpirun its processes; {rank}, "
         "{replica} and {partition} in --input stand for numbers")
      ->check(CLI::Range(1u, most))
      ->group("Processes");
  app.add_option("--partitions", options.partitions,
                 "partitions of each replica")
      ->check(CLI::Range(1u, most))
      ->capture_default_str()
      ->needs("--replicas")
      ->group("Processes");
  app.add_flag("--mpi", options.mpi,
               "use MPI (the default where mpirun started this)")
      ->needs("--replicas")
      ->group("Processes");
  app.add_option("--infeed", options.infeed,
                 "what stablehlo.infeed gives each process, in order")
      ->type_name("FILE.npy")
      ->needs("--replicas")
      ->group("Processes");
}

static std::string replaceAll(std::string text, const std::string &what,
                              uint32_t number) {
  const std::string with = std::to_string(number);
  for (size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
  return text;
}

std::string forProcess(std::string text, const ProcessGrid &grid, Rank rank) {
  text = replaceAll(std::move(text), "{rank}", rank);
  text = replaceAll(std::move(text), "{replica}", rank / grid.partitions);
  return replaceAll(std::move(text), "{partition}", rank % grid.partitions);
}

InputOptions inputsOf(const InputOptions &inputs, const ProcessGrid &grid,
                      Rank rank) {
  InputOptions own = inputs;
  for (std::string &input : own.inputs)
    input = forProcess(std::move(input), grid, rank);
  return own;
}

static Result<std::deque<Tensors>>
readInfeed(const std::vector<std::string> &paths) {
  std::deque<Tensors> infeed;
  for (const std::string &path : paths) {
    Result<Tensor> tensor = readNpy(path);
    if (!tensor)
      return tensor.takeError();
    infeed.push_back({std::move(*tensor)});
  }
  return infeed;
}

namespace {

class GridRun {
public:
  GridRun(Session &session, const GridOptions &options,
          const ProcessInputs &inputs)
      : session(session), options(options), inputs(inputs) {}

  Result<std::vector<ProcessResult>> underMpi() {
    auto communicator = connectMpi(options.grid());
    if (!communicator)
      return communicator.takeError();
    Result<ProcessResult> result =
        runProcess(**communicator, session.executor());
    // Where one fails, mpirun ends the others.
    if (!result)
      return result.takeError();
    if (Result<void> finished = (*communicator)->finish(); !finished)
      return finished.takeError();
    return std::vector<ProcessResult>{std::move(*result)};
  }

  Result<std::vector<ProcessResult>> asThreads(bool takeTurns) {
    const uint32_t size = options.grid().size();
    std::vector<std::unique_ptr<Executor>> executors;
    for (Rank rank = 0; rank < size; ++rank) {
      auto executor = session.anotherExecutor();
      if (!executor)
        return executor.takeError();
      executors.push_back(std::move(*executor));
    }
    ThreadGroup group(options.grid());
    std::mutex turn;
    if (takeTurns)
      group.setTurns([&] { turn.unlock(); }, [&] { turn.lock(); });
    std::vector<ProcessResult> results(size);
    Result<void> done = group.run([&](Communicator &communicator) {
      std::unique_lock<std::mutex> lock(turn, std::defer_lock);
      if (takeTurns)
        lock.lock();
      const Rank rank = communicator.rank();
      Result<ProcessResult> result = runProcess(communicator, *executors[rank]);
      if (!result)
        return Result<void>(result.takeError());
      results[rank] = std::move(*result);
      return Result<void>();
    });
    if (!done)
      return done.takeError();
    return results;
  }

private:
  Result<ProcessResult> runProcess(Communicator &communicator,
                                   Executor &executor) {
    Result<std::vector<Tensor>> tensors = inputs.tensors(communicator.rank());
    if (!tensors)
      return tensors.takeError();
    if (Result<void> given = inputs.states(communicator.rank(), executor);
        !given)
      return given.takeError();
    Result<std::deque<Tensors>> infeed = readInfeed(options.infeed);
    if (!infeed)
      return infeed.takeError();
    communicator.infeed = std::move(*infeed);
    auto *user = dynamic_cast<HostContextUser *>(&executor);
    if (user)
      user->setHostContext(&communicator);
    Result<std::vector<Tensor>> outputs = executor.run(*tensors);
    if (user)
      user->setHostContext(nullptr);
    if (!outputs) {
      Error error = outputs.takeError();
      error.message = processText(communicator.grid(), communicator.rank()) +
                      ": " + error.message;
      return error;
    }
    return ProcessResult{communicator.rank(), std::move(*outputs),
                         std::move(communicator.outfeed), statesOf(executor)};
  }

  Session &session;
  const GridOptions &options;
  const ProcessInputs &inputs;
};

} // namespace

Result<std::vector<ProcessResult>> runGrid(Session &session,
                                           const GridOptions &options,
                                           bool isInterpreter,
                                           const ProcessInputs &inputs) {
  GridRun run(session, options, inputs);
  return options.mpi || isUnderMpi() ? run.underMpi()
                                     : run.asThreads(isInterpreter);
}

} // namespace sinter::driver
