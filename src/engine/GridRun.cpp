#include "engine/GridRun.h"

#include "engine/ExecutorStates.h"
#include "engine/MpiLibrary.h"
#include "runtime/HostContextUser.h"
#include "runtime/Npy.h"
#include "runtime/ThreadGroup.h"

#include <semaphore>

namespace sinter {

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
    Result<Hash128> program = session.identity();
    if (!program)
      return program.takeError();
    if (Result<void> same = checkSameProgram(**communicator, *program); !same)
      return same.takeError();
    Result<ProcessResult> result =
        runProcess(**communicator, session.executor());
    // If one fails, mpirun ends the others.
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
      auto executor = session.anotherExecutor(1);
      if (!executor)
        return executor.takeError();
      executors.push_back(std::move(*executor));
    }
    ThreadGroup group(options.grid());
    // No mutex: the interpreter, which waits inside, has a thread of its own.
    std::binary_semaphore turn(1);
    if (takeTurns)
      group.setTurns([&] { turn.release(); }, [&] { turn.acquire(); });
    std::vector<ProcessResult> results(size);
    Result<void> done = group.run([&](Communicator &communicator) {
      if (takeTurns)
        turn.acquire();
      const Rank rank = communicator.rank();
      Result<ProcessResult> result = runProcess(communicator, *executors[rank]);
      if (takeTurns)
        turn.release();
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
      return inside(processText(communicator.grid(), communicator.rank()),
                    outputs.takeError());
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

} // namespace sinter
