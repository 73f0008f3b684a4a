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

/// \p detections of an image of \p width and \p height, in one of another size.
std::vector<Detection> scaledBoxes(std::vector<Detection> detections,
                                   double width, double height, double toWidth,
                                   double toHeight);

} // namespace sinter

#endif // SINTER_POST_BOXDRAWING_H
