//===- ConvolutionKernel.h - kernels of blocked convolutions -------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_CONVOLUTIONKERNEL_H
#define SINTER_BACKEND_CPU_EMIT_CONVOLUTIONKERNEL_H

#include "backend/cpu/emit/AnchorKernel.h"
#include "backend/cpu/kernels/Convolution.h"

#include <memory>

namespace sinter::cpu {

struct Target;

/// What the generator of \p op is made for: one image, of which there may be
/// any number. What computes it follows from that alone, so that an image's
/// result does not depend on the others.
ConvolutionShape convolutionShape(ConvolutionOp op);
/// The same with numbers for sizes that are not known, to estimate by.
ConvolutionShape nominalShape(ConvolutionOp op);

/// The kernel that computes \p op: the fastest by kernels/Estimates.
llvm::StringRef kernelOf(ConvolutionOp op, const Target &target);

/// Whether that takes weights of fewer bits than f32.
bool readsNarrowWeights(llvm::StringRef kernel);

/// The kernel that \p op is the anchor of.
std::unique_ptr<AnchorKernel> createConvolutionKernel(KernelOp kernel,
                                                      ConvolutionOp op,
                                                      const Target &target);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_CONVOLUTIONKERNEL_H
