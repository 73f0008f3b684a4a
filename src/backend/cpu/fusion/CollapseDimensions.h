//===- CollapseDimensions.h - merge dimensions of kernels -----------------===//
//
//   kernel on 8x64x56x56: x + broadcast(bias, dims = [1])
//     -> kernel on 8x64x3136 : x + broadcast(bias, dims = [1])
//   kernel on 1x4x58x58x16: pad(x : 1x4x56x56x16) by one row and column
//     -> kernel on 4x58x928  : pad(x : 4x56x896) by 1 and 16
//
// Adjacent dimensions that a kernel treats alike are merged, so that its
// innermost loop is long and its indices are simple.
//
// Restrictions: kernels of elementwise operations and broadcasts of inputs, or
// of elementwise operations and one concatenate or padding without interior
// padding.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_FUSION_COLLAPSEDIMENSIONS_H
#define SINTER_BACKEND_CPU_FUSION_COLLAPSEDIMENSIONS_H

#include "backend/cpu/ir/CpuOps.h"

namespace sinter::cpu {

/// Rewrites \p kernel's body if possible; returns whether it did.
bool collapseDimensions(KernelOp kernel);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_FUSION_COLLAPSEDIMENSIONS_H
