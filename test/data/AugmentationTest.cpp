#include "data/Augmentation.h"

#include <gtest/gtest.h>
#include <set>

namespace sinter {
namespace {

/// 0, 1, ... in one picture of one channel.
Tensor picture(int64_t height, int64_t width) {
  Tensor tensor(ElementType::F32, {1, 1, height, width});
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.set<float>(i, static_cast<float>(i));
  return tensor;
}

std::vector<float> cut(const Tensor &picture, PictureSize window,
                       Placement place) {
  const Tensor out =
      cutWindows(picture, ImageLayout::Nchw, window, std::span(&place, 1));
  std::vector<float> numbers;
  for (int64_t i = 0; i < out.size(); ++i)
    numbers.push_back(out.at<float>(i));
  return numbers;
}

TEST(Augmentation, MiddleWithoutAny) {
  const Placement place = placementOf({}, {6, 8}, {2, 4}, 3, 5);
  EXPECT_EQ(place.top, 2);
  EXPECT_EQ(place.left, 2);
  EXPECT_FALSE(place.isMirrored);
}

TEST(Augmentation, FollowsFromSeedEpochAndSample) {
  const AugmentationOptions options{.flips = true, .crops = true, .seed = 9};
  std::set<std::pair<int64_t, int64_t>> places;
  bool mirrored = false, straight = false;
  for (uint64_t sample = 0; sample < 100; ++sample) {
    const Placement one = placementOf(options, {6, 8}, {2, 4}, 1, sample),
                    same = placementOf(options, {6, 8}, {2, 4}, 1, sample);
    EXPECT_EQ(one.top, same.top);
    EXPECT_EQ(one.left, same.left);
    EXPECT_EQ(one.isMirrored, same.isMirrored);
    EXPECT_TRUE(one.top >= 0 && one.top <= 4 && one.left >= 0 && one.left <= 4);
    places.emplace(one.top, one.left);
    (one.isMirrored ? mirrored : straight) = true;
  }
  EXPECT_GT(places.size(), 10U);
  EXPECT_TRUE(mirrored && straight);
}

TEST(Augmentation, WindowsMirroredAndOverTheEdge) {
  const Tensor all = picture(2, 3);
  EXPECT_EQ(cut(all, {1, 2}, {1, 1, false}), (std::vector<float>{4, 5}));
  EXPECT_EQ(cut(all, {1, 2}, {1, 1, true}), (std::vector<float>{5, 4}));
  EXPECT_EQ(cut(all, {1, 3}, {-1, -1, false}), (std::vector<float>{0, 0, 1}));
}

} // namespace
} // namespace sinter
