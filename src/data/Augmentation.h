//===- Augmentation.h - random crops and flips of images ------------------===//

#ifndef SINTER_DATA_AUGMENTATION_H
#define SINTER_DATA_AUGMENTATION_H

#include "runtime/Image.h"
#include "runtime/Tensor.h"

#include <span>

namespace sinter {

struct AugmentationOptions {
  /// Random horizontal flip.
  bool flips = false;
  /// Random crop instead of a centre crop.
  bool crops = false;
  /// Shifts images by up to this many pixels to each side; the edge is
  /// repeated.
  int64_t shift = 0;
  uint64_t seed = 0;

  bool any() const { return flips || crops || shift != 0; }
};

/// The position of a window in an image; it may exceed the image.
struct Placement {
  int64_t top = 0, left = 0;
  bool isMirrored = false;
};

/// Centred without augmentation; else a function of the seed, \p epoch and the
/// sample's index only.
Placement placementOf(const AugmentationOptions &options, PictureSize picture,
                      PictureSize window, uint64_t epoch, uint64_t sample);

/// The sizes of the images in \p tensor, of rank 4.
PictureSize pictureSizeOf(const Shape &shape, ImageLayout layout);

/// A window of each image in \p pictures, of rank 4 and any element type: one
/// placement each. Outside of the image, its edge is repeated.
Tensor cutWindows(const Tensor &pictures, ImageLayout layout,
                  PictureSize window, std::span<const Placement> placements);

} // namespace sinter

#endif // SINTER_DATA_AUGMENTATION_H
