//===- WeightGradientKernel.h - kernels of gradients of weights -----------===//

#ifndef SINTER_BACKEND_CPU_EMIT_WEIGHTGRADIENTKERNEL_H
#define SINTER_BACKEND_CPU_EMIT_WEIGHTGRADIENTKERNEL_H

#include "backend/cpu/emit/RootKernel.h"

#include <memory>

namespace sinter::cpu {

struct Target;

/// The kernel that \p op is the root of.
std::unique_ptr<RootKernel> createWeightGradientKernel(KernelOp kernel,
                                                       WeightGradientOp op,
                                                       const Target &target);
std::unique_ptr<RootKernel>
createDepthwiseGradientKernel(KernelOp kernel, DepthwiseGradientOp op,
                              const Target &target);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_WEIGHTGRADIENTKERNEL_H
