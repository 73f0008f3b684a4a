//===- BoxDrawing.cpp - boxes in an image ---------------------------------===//

#include "post/BoxDrawing.h"

#include "runtime/ImageGeometry.h"
#include "runtime/Png.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace sinter {

namespace {

/// Fills rectangles of an image of three channels.
class Canvas {
public:
  explicit Canvas(Tensor &image)
      : image(image), height(image.dim(0)), width(image.dim(1)) {}

  /// From the first to before the last row and column, as far as there are
  /// such.
  void fill(double left, double top, double right, double bottom,
            const Colour &colour) {
    const int64_t endRow = inside(bottom, height),
                  endColumn = inside(right, width);
    for (int64_t row = inside(top, height); row < endRow; ++row)
      for (int64_t column = inside(left, width); column < endColumn; ++column)
        for (int64_t channel = 0; channel < 3; ++channel)
          image.set<uint8_t>((row * width + column) * 3 + channel,
                             colour[channel]);
  }

private:
  static int64_t inside(double at, int64_t size) {
    return static_cast<int64_t>(
        std::clamp(std::round(at), 0.0, static_cast<double>(size)));
  }

  Tensor &image;
  int64_t height, width;
};

/// The colour of a class: that of the palette behind black.
Colour outlineColour(int64_t label) {
  return classColour(static_cast<uint8_t>(((label % 255) + 255) % 255 + 1));
}

} // namespace

Tensor withBoxes(const Tensor &image,
                 const std::vector<Detection> &detections) {
  const int64_t height = image.dim(0), width = image.dim(1),
                channels = image.dim(2);
  Tensor drawn(ElementType::UI8, {height, width, 3});
  for (int64_t i = 0; i < height * width; ++i)
    for (int64_t channel = 0; channel < 3; ++channel)
      drawn.set<uint8_t>(
          3 * i + channel,
          image.at<uint8_t>(channels * i + std::min(channel, channels - 1)));
  Canvas canvas(drawn);
  const double line = std::max(
      2.0, std::round(static_cast<double>(std::min(height, width)) / 200));
  for (size_t i = detections.size(); i-- > 0;) {
    const Box &box = detections[i].box;
    const Colour colour = outlineColour(detections[i].label);
    canvas.fill(box.left, box.top, box.right, box.top + line, colour);
    canvas.fill(box.left, box.bottom - line, box.right, box.bottom, colour);
    canvas.fill(box.left, box.top, box.left + line, box.bottom, colour);
    canvas.fill(box.right - line, box.top, box.right, box.bottom, colour);
  }
  return drawn;
}

Result<std::vector<Detection>> boxesInImage(std::vector<Detection> detections,
                                            PictureSize image,
                                            PictureSize input,
                                            const ImageOptions &how) {
  Result<ImageAxes> axes = imageAxes(image, input, how);
  if (!axes)
    return axes.takeError();
  for (Detection &each : detections)
    for (auto [axis, low, high] :
         {std::tuple(&axes->columns, &each.box.left, &each.box.right),
          std::tuple(&axes->rows, &each.box.top, &each.box.bottom)})
      for (double *place : {low, high})
        *place = (*place + static_cast<double>(axis->start)) *
                 static_cast<double>(axis->from) /
                 static_cast<double>(axis->scaled);
  return detections;
}

} // namespace sinter
