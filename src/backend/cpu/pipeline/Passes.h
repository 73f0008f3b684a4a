//===- Passes.h - the CPU backend's rewrites in their order ---------------===//
//
// Each is a pass of its own, `cpu-...`: sinter-opt runs them one by one, and
// --print-ir-after, --verify-numerics and --disable-patterns reach them as they
// do all others.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_PIPELINE_PASSES_H
#define SINTER_BACKEND_CPU_PIPELINE_PASSES_H

#include "backend/cpu/target/PassSetting.h"
#include "passes/Pipelines.h"

namespace sinter::cpu {

/// From a simplified graph to kernels, in order.
Passes createPasses(const std::shared_ptr<PatternRun> &run,
                    const std::shared_ptr<const PassSetting> &setting);

/// Makes the labels and names of the passes known to those who name them
/// (--disable-patterns, --list-patterns, --print-ir-after). May be called
/// again.
void registerPatternLabels();

/// The passes and the pipeline `cpu`, for sinter-opt. Their options name the
/// machine: triple, cpu, features; this one where none is given.
void registerPasses();

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_PIPELINE_PASSES_H
