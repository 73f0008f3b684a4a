//===- SessionExecutors.h - what runs a session's programs ----------------===//

#ifndef SINTER_ENGINE_SESSIONEXECUTORS_H
#define SINTER_ENGINE_SESSIONEXECUTORS_H

#include "engine/FallbackExecutor.h"
#include "engine/SessionOptions.h"

namespace sinter {

/// Runs \p program as \p options say, on \p threads of \p pool (null: of the
/// options' pool). Errors: those of ProgramExecutor::create().
Result<std::unique_ptr<Executor>>
makeExecutor(std::shared_ptr<const Program> program,
             const SessionOptions &options, unsigned threads,
             std::shared_ptr<ThreadPool> pool = nullptr);

/// The same; where the program computes sizes, \p fallback makes what goes on
/// with values that are beyond its shape guards.
Result<std::unique_ptr<Executor>>
makeExecutor(std::shared_ptr<const Program> program,
             const SessionOptions &options, unsigned threads,
             std::shared_ptr<ThreadPool> pool, FallbackExecutor::Make fallback);

} // namespace sinter

#endif // SINTER_ENGINE_SESSIONEXECUTORS_H
