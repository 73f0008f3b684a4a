//===- DeformedConvolution.h - convolutions at sampled positions ----------===//
//
// Convolutions that sample each element of a window at its own offset (Dai et
// al., Deformable Convolutional Networks, 2017; with a mask: Zhu et al., 2019).
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_IMPORT_DEFORMEDCONVOLUTION_H
#define SINTER_FORMATS_IMPORT_DEFORMEDCONVOLUTION_H

#include "formats/import/GraphBuilder.h"

namespace sinter::formats {

/// An image [N, C, H, W], a filter [O, C / groups, h, w], and what each window
/// adds to the rows and columns of its elements, [N, offsetGroups * h * w * 2,
/// rows, columns]. The mask multiplies the elements, [N, offsetGroups * h * w,
/// rows, columns]; it may be null.
struct DeformedConvolution {
  mlir::Value input, filter, offset, mask;
  /// Two entries each.
  Ints strides, low, high, dilations;
  int64_t groups = 1;
  /// The number of groups of channels, each with its own offsets.
  int64_t offsetGroups = 1;
};

/// The convolution, [N, O, rows, columns], with elements \p element.
mlir::Value deformedConvolution(GraphBuilder &builder,
                                const DeformedConvolution &form,
                                mlir::Type element);

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_DEFORMEDCONVOLUTION_H
