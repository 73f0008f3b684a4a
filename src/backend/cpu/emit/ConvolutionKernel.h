//===- ConvolutionKernel.h - kernels of blocked convolutions --------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_CONVOLUTIONKERNEL_H
#define SINTER_BACKEND_CPU_EMIT_CONVOLUTIONKERNEL_H

#include "backend/cpu/emit/RootKernel.h"
#include "backend/cpu/kernels/conv/Convolution.h"

#include <memory>
#include <optional>

namespace sinter::cpu {

struct Target;

/// What the generator of \p op is made for: one image, of which there may be
/// any number. What computes it follows from that alone, so that an image's
/// result does not depend on the others.
ConvolutionShape convolutionShape(ConvolutionOp op);
/// The same with numbers for sizes that are not known, to estimate by.
ConvolutionShape nominalShape(ConvolutionOp op);

/// The kernel that computes \p op, by cost/Estimates; or that would, if
/// matrix units could have its weights as \p onTiles.
llvm::StringRef kernelOf(ConvolutionOp op, const Target &target,
                         std::optional<ElementType> onTiles = {});

/// Whether that takes weights of fewer bits than f32.
bool readsLowBitWeights(llvm::StringRef kernel);

/// The kernel that \p op is the root of.
std::unique_ptr<RootKernel> createConvolutionKernel(KernelOp kernel,
                                                    ConvolutionOp op,
                                                    const Target &target);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_CONVOLUTIONKERNEL_H
