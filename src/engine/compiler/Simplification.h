//===- Simplification.h - runs pipelines with a user's options ------------===//

#ifndef SINTER_ENGINE_COMPILER_SIMPLIFICATION_H
#define SINTER_ENGINE_COMPILER_SIMPLIFICATION_H

#include "engine/Compiler.h"
#include "passes/Pipelines.h"

namespace sinter {

/// raiseQuantized() with the given options, for kernels. Errors name the
/// model's file. Results may change by one step of a scale, which
/// --verify-numerics does not check.
Result<SimplifyReport>
raiseQuantizedWith(Model &model, const PassOptions &passes,
                   ReplacementWatcher *watcher = nullptr);
/// Raises expanded quantisation to operations, and changes nothing else: values
/// stay the same, and a writer finds the operators of its format. Errors name
/// the model's file.
Result<void> raiseQuantizeOperators(Model &model);
/// simplify() with the given options; \p model is another graph afterwards.
/// Errors name the model's file. \p watcher, if there is one, follows values.
Result<SimplifyReport> simplifyWith(Model &model, const PassOptions &passes,
                                    ReplacementWatcher *watcher = nullptr);
/// Raises for the kernels of a backend, likewise.
Result<SimplifyReport> raiseWith(Model &model, const PassOptions &passes,
                                 ReplacementWatcher *watcher = nullptr);

/// The options of the passes of any pipeline.
SimplifyOptions simplifyOptions(const PassOptions &passes,
                                ReplacementWatcher *watcher = nullptr);
/// Reports the result of --verify-numerics for \p stage.
void tellVerified(const PassOptions &passes, const char *stage,
                  const NumericsFacts &facts);

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_SIMPLIFICATION_H
