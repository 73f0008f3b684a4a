#include "post/BoxDrawing.h"

#include "runtime/Png.h"

#include <gtest/gtest.h>

namespace sinter {
namespace {

TEST(WithBoxes, OutlinesAreCutOff) {
  Tensor grey(ElementType::UI8, {10, 12, 1});
  for (int64_t i = 0; i < grey.size(); ++i)
    grey.set<uint8_t>(i, 77);
  const Tensor drawn =
      withBoxes(grey, {{{2, 1, 9, 8}, 0.9, 0}, {{-5, -1e30, 1e30, 4}, 0.5, 1}});
  EXPECT_EQ(drawn.shape(), (Shape{10, 12, 3}));
  const auto at = [&](int64_t row, int64_t column) {
    Colour colour;
    for (int64_t i = 0; i < 3; ++i)
      colour[i] = drawn.at<uint8_t>((row * 12 + column) * 3 + i);
    return colour;
  };
  const Colour grey77 = {77, 77, 77};
  EXPECT_EQ(at(1, 2), classColour(1));
  EXPECT_EQ(at(7, 8), classColour(1));
  EXPECT_EQ(at(4, 3), classColour(1));
  EXPECT_EQ(at(5, 5), grey77);
  EXPECT_EQ(at(8, 8), grey77);
  // The second box's bottom edge, behind the first's.
  EXPECT_EQ(at(3, 0), classColour(2));
  EXPECT_EQ(at(3, 2), classColour(1));
  EXPECT_EQ(at(0, 0), grey77);
}

/// A box of the input in its image.
static Box moved(Box box, PictureSize image, PictureSize input,
                 const ImageOptions &how = {}) {
  auto boxes = boxesInImage({{box, 0.9, 3}}, image, input, how);
  EXPECT_TRUE(bool(boxes));
  EXPECT_EQ(boxes->front().label, 3);
  return boxes->front().box;
}

static void expectBox(const Box &box, double left, double top, double right,
                      double bottom) {
  EXPECT_EQ(box.left, left);
  EXPECT_EQ(box.top, top);
  EXPECT_EQ(box.right, right);
  EXPECT_EQ(box.bottom, bottom);
}

TEST(BoxesInImage, BothDirections) {
  // Ten times as wide and half as high as the input.
  expectBox(moved({1, 2, 3, 4}, {10, 200}, {20, 20}), 10, 1, 30, 2);
}

TEST(BoxesInImage, PaddingIsNoneOfIt) {
  ImageOptions how;
  how.fit = ImageFit::Pad;
  // Scaled by a half to 16 x 10, with 5 columns on each side.
  expectBox(moved({6, 6, 14, 10}, {32, 20}, {16, 20}, how), 2, 12, 18, 20);
}

TEST(BoxesInImage, WhatIsCroppedIsBeforeIt) {
  ImageOptions how;
  how.fit = ImageFit::Cover;
  // Not scaled; 8 rows are cut off above and below.
  expectBox(moved({6, 6, 14, 10}, {32, 20}, {16, 20}, how), 6, 14, 14, 18);
  how.fit = ImageFit::Stretch;
  how.resize = PictureSize{20, 24};
  how.crop = PictureSize{16, 20};
  // Scaled to 20 x 24, of which the centre begins at 2 and 2.
  expectBox(moved({6, 6, 14, 10}, {40, 48}, {16, 20}, how), 16, 16, 32, 24);
}

} // namespace
} // namespace sinter
