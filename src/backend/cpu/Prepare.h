//===- Prepare.h - a graph in the operations that have kernels ------------===//

#ifndef SINTER_BACKEND_CPU_PREPARE_H
#define SINTER_BACKEND_CPU_PREPARE_H

#include "backend/cpu/codegen/Target.h"
#include "graph/Model.h"

namespace sinter::cpu {

/// Rewrites \p model in place: activations are laid out for \p target's
/// kernels, operations without a kernel of their own are decomposed, and what
/// is left unused is removed. Fails with Unsupported for shapes that are not
/// known and element types without arithmetic here.
Result<void> prepare(Model &model, const Target &target,
                     bool allowsFastConvolution);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_PREPARE_H
