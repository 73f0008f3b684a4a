//===- CollapseDimensions.h - loops as long as they can be ----------------===//
//
//   kernel on 8x64x56x56: x + broadcast(bias, dims = [1])
//     -> kernel on 8x64x3136 : x + broadcast(bias, dims = [1])
//
// Neighbouring dimensions that a kernel treats alike become one, so that its
// innermost loop is long and its indices are simple.
//
// Restrictions: kernels of elementwise operations and broadcasts of inputs.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_COLLAPSEDIMENSIONS_H
#define SINTER_BACKEND_CPU_COLLAPSEDIMENSIONS_H

#include "backend/cpu/ir/CpuOps.h"

namespace sinter::cpu {

/// Rewrites \p kernel's body, where it can; whether it did.
bool collapseDimensions(KernelOp kernel);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_COLLAPSEDIMENSIONS_H
