//===- ImageResize.h - images of other sizes ------------------------------===//

#ifndef SINTER_RUNTIME_IMAGERESIZE_H
#define SINTER_RUNTIME_IMAGERESIZE_H

#include "runtime/ImageGeometry.h"

#include <vector>

namespace sinter {

/// Rows, columns and channels of floats, 0..255.
struct Picture {
  int64_t height, width, channels;
  std::vector<float> values;
};

/// The pixels of \p image, ui8 [height, width, channels], scaled as \p axes
/// say: those from begin() to end() of both.
Picture resizedPicture(const Tensor &image, const ImageAxes &axes,
                       Interpolation how);

} // namespace sinter

#endif // SINTER_RUNTIME_IMAGERESIZE_H
