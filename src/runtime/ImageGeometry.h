//===- ImageGeometry.h - where the pixels of an input come from -----------===//

#ifndef SINTER_RUNTIME_IMAGEGEOMETRY_H
#define SINTER_RUNTIME_IMAGEGEOMETRY_H

#include "runtime/Image.h"

#include <algorithm>

namespace sinter {

/// One dimension of an image on its way to an input: `from` pixels are scaled
/// to `scaled`, of which those in [start, start + kept) come first; where that
/// exceeds the scaled image, and up to `size`, there is padding.
struct ImageAxis {
  int64_t from = 0, scaled = 0, start = 0, kept = 0, size = 0;

  /// The scaled pixels that are needed, [begin(), end()).
  int64_t begin() const { return std::max<int64_t>(0, start); }
  int64_t end() const {
    return std::max(begin(), std::min(scaled, start + kept));
  }
  bool isWhole() const {
    return from == scaled && begin() == 0 && end() == from;
  }
};

struct ImageAxes {
  ImageAxis rows, columns;
};

/// The size of a scaled \p image that fits \p target. All are positive and at
/// most maxPixels.
PictureSize scaledSize(PictureSize image, PictureSize target, ImageFit fit);

/// How an image of a size becomes one for an input of size \p target, -1 for
/// dynamic dimensions. The error says which sizes do not fit.
Result<ImageAxes> imageAxes(PictureSize image, PictureSize target,
                            const ImageOptions &options);

/// The coefficients of one scaled pixel: those of the source pixels from
/// `first` on; they sum to 1.
struct ImageTaps {
  int64_t first;
  std::vector<float> weights;
};

/// Those of the scaled pixels [\p begin, \p end) of a dimension that is scaled
/// from \p from pixels to \p scaled. The filter lies on pixel centres and is
/// widened by the factor by which the image shrinks, as in Pillow:
///
///     nearest   1 for the pixel that contains the centre
///     bilinear  1 - |d|                       for |d| < 1
///     bicubic   1.5 |d|^3 - 2.5 |d|^2 + 1     for |d| < 1
///               -0.5 |d|^3 + 2.5 |d|^2 - 4 |d| + 2   for |d| < 2
std::vector<ImageTaps> imageTaps(int64_t from, int64_t scaled, int64_t begin,
                                 int64_t end, Interpolation how);

} // namespace sinter

#endif // SINTER_RUNTIME_IMAGEGEOMETRY_H
