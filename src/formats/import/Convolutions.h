//===- Convolutions.h - convolutions, plain and transposed ----------------===//

#ifndef SINTER_FORMATS_IMPORT_CONVOLUTIONS_H
#define SINTER_FORMATS_IMPORT_CONVOLUTIONS_H

#include "formats/import/GraphBuilder.h"

namespace sinter::formats {

/// What differs between a convolution and a transposed one: one entry per
/// spatial dimension, and where the kernel's channels are.
struct ConvolutionForm {
  Ints strides, low, high, lhsDilation, rhsDilation;
  bool reversed = false;
  int64_t kernelInput = 1, kernelOutput = 0;
  int64_t groups = 1;
};

/// The convolution of \p input [N, C, spatial...]. The result's shape follows
/// from the form; its element type is \p element. Fails where a size overflows.
mlir::Value buildConvolution(GraphBuilder &builder, mlir::Value input,
                             mlir::Value kernel, const ConvolutionForm &form,
                             mlir::Type element);

/// The kernel [C, O / groups, spatial...] of a transposed convolution with
/// form.groups groups in the layout that stablehlo.convolution expects:
/// unchanged for one group and for depthwise, else [C / groups, O, spatial...].
/// Sets the kernel's channel dimensions in the form.
mlir::Value transposedKernel(GraphBuilder &builder, mlir::Value kernel,
                             ConvolutionForm &form);

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_CONVOLUTIONS_H
