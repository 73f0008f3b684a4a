//===- BlockedKernel.h - roots with results blocked by channel ------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_BLOCKEDKERNEL_H
#define SINTER_BACKEND_CPU_EMIT_BLOCKEDKERNEL_H

#include "backend/cpu/emit/DynamicKernel.h"
#include "backend/cpu/emit/RootKernel.h"
#include "backend/cpu/kernels/common/KernelBuilder.h"
#include "backend/cpu/kernels/conv/Window.h"
#include "graph/Types.h"

namespace sinter::cpu {

/// Sets what an operation says of windows on images that make \p images of its
/// input.
template <typename Op>
void setWindow(WindowShape &window, Op op, mlir::Value images) {
  llvm::ArrayRef<Dim> input = dimsOf(op.getInput()), output = dimsOf(images);
  window.inputHeight = input[2];
  window.inputWidth = input[3];
  window.outputHeight = output[2];
  window.outputWidth = output[3];
  window.strideHeight = op.getStrides()[0];
  window.strideWidth = op.getStrides()[1];
  window.dilationHeight = op.getDilations()[0];
  window.dilationWidth = op.getDilations()[1];
  window.padTop = op.getPaddingLow()[0];
  window.padLeft = op.getPaddingLow()[1];
}
template <typename Op> void setWindow(WindowShape &window, Op op) {
  setWindow(window, op, op.getResult());
  if (auto high = op.getPaddingHigh()) {
    window.padBottom = (*high)[0];
    window.padRight = (*high)[1];
  }
}

class BlockedKernel : public RootKernel {
protected:
  using RootKernel::RootKernel;

  /// How many images the result has.
  Dim images() const { return dimsOf(root->getResult(0))[0]; }
  /// The work of all images by one function: the tasks of one are the product
  /// of \p ofImage, and a pixel of all channels takes \p flops.
  KernelWork workOf(llvm::ArrayRef<TaskExtent> ofImage, double flops) const;
  /// Elements of a block are neighbours, at distances that all layers have in
  /// common: code does not get slower where it reads numbers from a table.
  CodeSharing sharing() const {
    return isDynamic(kernel) ? CodeSharing::AnyNumbers : CodeSharing::None;
  }

  /// Null if the kernel has none.
  BlockedEpilogue epilogue(mlir::ValueRange memory) const;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_BLOCKEDKERNEL_H
