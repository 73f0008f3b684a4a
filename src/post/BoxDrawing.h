//===- BoxDrawing.h - boxes in an image -----------------------------------===//

#ifndef SINTER_POST_BOXDRAWING_H
#define SINTER_POST_BOXDRAWING_H

#include "metrics/Boxes.h"
#include "runtime/Image.h"

#include <vector>

namespace sinter {

/// \p image, ui8 of [height, width, 1 or 3], in colours with the outlines of
/// \p detections in the colours of their classes, the best in front. What is
/// outside of the image is cut off.
Tensor withBoxes(const Tensor &image, const std::vector<Detection> &detections);

/// \p detections in the pixels of an input of size \p input, in those of the
/// image of size \p image that was scaled, cropped and padded for it. Errors as
/// of imageAxes.
Result<std::vector<Detection>> boxesInImage(std::vector<Detection> detections,
                                            PictureSize image,
                                            PictureSize input,
                                            const ImageOptions &how);

} // namespace sinter

#endif // SINTER_POST_BOXDRAWING_H
