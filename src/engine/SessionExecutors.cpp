//===- SessionExecutors.cpp - what runs a session's programs --------------===//

#include "engine/SessionExecutors.h"

#include <algorithm>

namespace sinter {

static Result<std::unique_ptr<ProgramExecutor>>
programExecutor(std::shared_ptr<const Program> program,
                const SessionOptions &options, unsigned threads,
                std::shared_ptr<ThreadPool> pool) {
  ProgramExecutorOptions how;
  how.threads = threads;
  how.denormals = options.denormals;
  how.most = options.most;
  how.allocator = options.allocator;
  if (!pool)
    pool = options.pool ? options.pool : ThreadPool::ofProcess(threads);
  return ProgramExecutor::create(std::move(program), std::move(pool),
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
             const SessionOptions &options, unsigned threads,
             std::shared_ptr<ThreadPool> pool) {
  auto executor =
      programExecutor(std::move(program), options, threads, std::move(pool));
  if (!executor)
    return executor.takeError();
  return std::unique_ptr<Executor>(std::move(*executor));
}

Result<std::unique_ptr<Executor>>
makeExecutor(std::shared_ptr<const Program> program,
             const SessionOptions &options, unsigned threads,
             std::shared_ptr<ThreadPool> pool,
             FallbackExecutor::Make fallback) {
  const bool fallsBack = computesSizes(*program);
  auto executor =
      programExecutor(std::move(program), options, threads, std::move(pool));
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
