//===- Augmentation.h - pictures a little different each time -------------===//

#ifndef SINTER_DRIVER_AUGMENTATION_H
#define SINTER_DRIVER_AUGMENTATION_H

#include "runtime/Image.h"
#include "runtime/Tensor.h"

#include <span>

namespace sinter::driver {

struct AugmentationOptions {
  /// Mirrors every other picture, left and right.
  bool flips = false;
  /// Cuts the window out anywhere, not in the middle.
  bool crops = false;
  /// Moves pictures by up to so many pixels to each side; the edge is repeated.
  int64_t shift = 0;
  uint64_t seed = 0;

  bool any() const { return flips || crops || shift != 0; }
};

struct PictureSize {
  int64_t height = 0, width = 0;
  bool operator==(const PictureSize &) const = default;
};

/// Where a window lies in a picture; it may stand out.
struct Placement {
  int64_t top = 0, left = 0;
  bool isMirrored = false;
};

/// In the middle, where no augmentation is asked for; else a function of the
/// seed, \p epoch and the sample's number, and of nothing else.
Placement placementOf(const AugmentationOptions &options, PictureSize picture,
                      PictureSize window, uint64_t epoch, uint64_t sample);

/// The sizes of the pictures in \p tensor, of rank 4.
PictureSize pictureSizeOf(const Shape &shape, ImageLayout layout);

/// A window of each picture in \p pictures, of rank 4 and any element type: a
/// placement each. Where it stands out, the picture's edge is repeated.
Tensor cutWindows(const Tensor &pictures, ImageLayout layout,
                  PictureSize window, std::span<const Placement> placements);

} // namespace sinter::driver

#endif // SINTER_DRIVER_AUGMENTATION_H
