//===- Convolutions.h - convolutions, plain and transposed ----------------===//

#ifndef SINTER_FORMATS_IMPORT_CONVOLUTIONS_H
#define SINTER_FORMATS_IMPORT_CONVOLUTIONS_H

#include "formats/import/GraphBuilder.h"

namespace sinter::formats {

/// What differs between a convolution and a transposed one: a number for each
/// spatial dimension, and where the kernel's channels are.
struct ConvolutionForm {
  Ints strides, low, high, lhsDilation, rhsDilation;
  bool reversed = false;
  int64_t kernelInput = 1, kernelOutput = 0;
  int64_t groups = 1;
};

/// The convolution of \p input [N, C, spatial...]. Sizes of the result follow
/// from the form; its elements are of type \p element. Fails where a size
/// overflows.
mlir::Value buildConvolution(GraphBuilder &builder, mlir::Value input,
                             mlir::Value kernel, const ConvolutionForm &form,
                             mlir::Type element);

/// The kernel [C, O / groups, spatial...] of a transposed convolution in
/// form.groups groups, as the convolution reads it: as it is where there is one
/// group or each channel is one, else as [C / groups, O, spatial...]. Sets
/// where its channels are.
mlir::Value transposedKernel(GraphBuilder &builder, mlir::Value kernel,
                             ConvolutionForm &form);

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_CONVOLUTIONS_H
