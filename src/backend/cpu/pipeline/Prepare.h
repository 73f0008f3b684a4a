//===- Prepare.h - a graph in the operations that have kernels ------------===//

#ifndef SINTER_BACKEND_CPU_PIPELINE_PREPARE_H
#define SINTER_BACKEND_CPU_PIPELINE_PREPARE_H

#include "backend/cpu/pipeline/Passes.h"
#include "graph/Model.h"

namespace sinter::cpu {

/// Runs the backend's passes on \p model in place, as \p options say: then all
/// that it computes is in kernels, laid out for the target. Fails with
/// Unsupported for shapes that are not known, element types without arithmetic
/// here and operations without a kernel.
Result<void> prepare(Model &model, const PassSetting &setting,
                     const SimplifyOptions &options, SimplifyReport &report);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_PIPELINE_PREPARE_H
