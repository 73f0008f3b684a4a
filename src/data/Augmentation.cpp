//===- Augmentation.cpp - random crops and flips of images ----------------===//

#include "data/Augmentation.h"

#include "runtime/Random.h"

#include <algorithm>

namespace sinter {

Placement placementOf(const AugmentationOptions &options, PictureSize picture,
                      PictureSize window, uint64_t epoch, uint64_t sample) {
  Placement place{centredStart(picture.height, window.height),
                  centredStart(picture.width, window.width), false};
  // Random numbers independent of those that order the samples.
  const uint64_t own = splitMix(splitMix(~options.seed, epoch), sample);
  const auto below = [&](uint64_t index, int64_t limit) {
    return static_cast<int64_t>(splitMix(own, index) %
                                static_cast<uint64_t>(limit));
  };
  if (options.crops) {
    place.top = below(0, picture.height - window.height + 1);
    place.left = below(1, picture.width - window.width + 1);
  }
  if (options.shift != 0) {
    place.top += below(2, 2 * options.shift + 1) - options.shift;
    place.left += below(3, 2 * options.shift + 1) - options.shift;
  }
  place.isMirrored = options.flips && below(4, 2) == 1;
  return place;
}

PictureSize pictureSizeOf(const Shape &shape, ImageLayout layout) {
  const size_t row = layout == ImageLayout::Nchw ? 2 : 1;
  return {shape[row], shape[row + 1]};
}

Tensor cutWindows(const Tensor &pictures, ImageLayout layout,
                  PictureSize window, std::span<const Placement> placements) {
  const bool isNchw = layout == ImageLayout::Nchw;
  const size_t row = isNchw ? 2 : 1;
  Shape shape = pictures.shape();
  const PictureSize size = pictureSizeOf(shape, layout);
  shape[row] = window.height;
  shape[row + 1] = window.width;
  Tensor result(pictures.type(), shape);
  // An image is planes of rows of pixels.
  const int64_t planes = isNchw ? shape[1] : 1;
  const size_t pixel =
      byteSize(pictures.type()) * static_cast<size_t>(isNchw ? 1 : shape[3]);
  std::byte *to = result.mutableBytes();
  for (int64_t sample = 0; sample < shape[0]; ++sample) {
    const Placement &place = placements[static_cast<size_t>(sample)];
    for (int64_t plane = 0; plane < planes; ++plane)
      for (int64_t y = 0; y < window.height; ++y) {
        const int64_t fromRow =
            std::clamp<int64_t>(place.top + y, 0, size.height - 1);
        const std::byte *from =
            pictures.data() +
            static_cast<size_t>((sample * planes + plane) * size.height +
                                fromRow) *
                static_cast<size_t>(size.width) * pixel;
        for (int64_t x = 0; x < window.width; ++x, to += pixel) {
          const int64_t at = place.isMirrored ? window.width - 1 - x : x;
          const int64_t column =
              std::clamp<int64_t>(place.left + at, 0, size.width - 1);
          std::copy_n(from + static_cast<size_t>(column) * pixel, pixel, to);
        }
      }
  }
  return result;
}

} // namespace sinter
