//===- SessionExecutors.cpp - what runs a session's programs --------------===//

#include "engine/SessionExecutors.h"

#include <algorithm>

namespace sinter {

static Result<std::unique_ptr<ProgramExecutor>>
programExecutor(std::shared_ptr<const Program> program,
                const SessionOptions &options, unsigned threads) {
  ProgramExecutorOptions how;
  how.threads = threads;
  how.denormals = options.denormals;
  how.most = options.most;
  how.allocator = options.allocator;
  return ProgramExecutor::create(std::move(program),
                                 options.pool ? options.pool
                                              : ThreadPool::ofProcess(threads),
                                 std::move(how));
}

static bool computesSizes(const Program &program) {
  return program.dynamic &&
         std::ranges::any_of(program.steps, [](const Step &step) {
           return step.kind == StepKind::Size;
         });
}

Result<std::unique_ptr<Executor>>
makeExecutor(std::shared_ptr<const Program> program,
             const SessionOptions &options, unsigned threads) {
  auto executor = programExecutor(std::move(program), options, threads);
  if (!executor)
    return executor.takeError();
  return std::unique_ptr<Executor>(std::move(*executor));
}

Result<std::unique_ptr<Executor>>
makeExecutor(std::shared_ptr<const Program> program,
             const SessionOptions &options, unsigned threads,
             FallbackExecutor::Make fallback) {
  const bool fallsBack = computesSizes(*program);
  auto executor = programExecutor(std::move(program), options, threads);
  if (!executor)
    return executor.takeError();
  std::unique_ptr<Executor> made;
  if (fallsBack)
    made = std::make_unique<FallbackExecutor>(std::move(*executor),
                                              std::move(fallback));
  else
    made = std::move(*executor);
  made->setPrinter(options.print);
  return made;
}

} // namespace sinter
