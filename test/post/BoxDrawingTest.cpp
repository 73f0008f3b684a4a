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

TEST(BoxesInImage, BothDirections) {
  const auto moved =
      boxesInImage({{{1, 2, 3, 4}, 0.9, 0}}, {-1, 10}, {0.5, 0.5});
  EXPECT_EQ(moved[0].box.left, 0);
  EXPECT_EQ(moved[0].box.right, 20);
  EXPECT_EQ(moved[0].box.top, 1.25);
  EXPECT_EQ(moved[0].box.bottom, 2.25);
}

} // namespace
} // namespace sinter
