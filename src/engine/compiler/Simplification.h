//===- Simplification.h - the passes as the user asked for them -----------===//

#ifndef SINTER_ENGINE_COMPILER_SIMPLIFICATION_H
#define SINTER_ENGINE_COMPILER_SIMPLIFICATION_H

#include "engine/Compiler.h"
#include "passes/Pipelines.h"

namespace sinter {

/// raiseQuantized() with the given options, on the way to kernels. Errors name
/// the model's file. Results may change by a step of a scale, which is not
/// compared.
Result<SimplifyReport>
raiseQuantizedWith(Model &model, const PassOptions &passes,
                   ReplacementWatcher *watcher = nullptr);
/// Makes operations of what quantises and dequantises but is spelt out, and
/// changes nothing else: what is computed stays the same, and a writer finds
/// what its format has operators for. Errors name the model's file.
Result<void> raiseQuantizeOperators(Model &model);
/// simplify() with the given options; \p model is another graph afterwards.
/// Errors name the model's file.
/// \p watcher, if there is one, is told where values go.
Result<SimplifyReport> simplifyWith(Model &model, const PassOptions &passes,
                                    ReplacementWatcher *watcher = nullptr);
/// Raises for the kernels of a backend, likewise.
Result<SimplifyReport> raiseWith(Model &model, const PassOptions &passes,
                                 ReplacementWatcher *watcher = nullptr);

/// What the passes of any pipeline are told.
SimplifyOptions simplifyOptions(const PassOptions &passes,
                                ReplacementWatcher *watcher = nullptr);
/// Tells what --verify-numerics has seen in \p stage.
void tellVerified(const PassOptions &passes, const char *stage,
                  const NumericsFacts &facts);

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_SIMPLIFICATION_H
