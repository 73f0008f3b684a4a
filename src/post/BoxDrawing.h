//===- BoxDrawing.h - boxes in an image -----------------------------------===//

#ifndef SINTER_POST_BOXDRAWING_H
#define SINTER_POST_BOXDRAWING_H

#include "metrics/Boxes.h"
#include "runtime/Tensor.h"

#include <vector>

namespace sinter {

/// \p image, ui8 of [height, width, 1 or 3], in colours with the outlines of
/// \p detections in the colours of their classes, the best in front. What is
/// outside of the image is cut off.
Tensor withBoxes(const Tensor &image, const std::vector<Detection> &detections);

/// One dimension of an input on its way back to the image that it was made of:
/// image = (input + start) * factor.
struct BoxAxis {
  double start = 0, factor = 1;
};

/// \p detections in the pixels of an input, in those of its image.
std::vector<Detection> boxesInImage(std::vector<Detection> detections,
                                    const BoxAxis &columns,
                                    const BoxAxis &rows);

} // namespace sinter

#endif // SINTER_POST_BOXDRAWING_H
