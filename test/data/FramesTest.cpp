#include "data/Frames.h"

#include <gtest/gtest.h>

#include <numeric>

namespace sinter {
namespace {

ModelInput framedInput(Shape shape) {
  ModelInput input;
  input.spec = {"x", ElementType::F32, std::move(shape)};
  return input;
}

Tensor ramp(Shape shape) {
  Tensor tensor(ElementType::F32, std::move(shape));
  std::span<float> values = tensor.mutableValues<float>();
  std::iota(values.begin(), values.end(), 0.0F);
  return tensor;
}

std::vector<float> valuesOf(const Tensor &tensor) {
  std::vector<float> values;
  for (int64_t i = 0; i < tensor.size(); ++i)
    values.push_back(tensor.at<float>(i));
  return values;
}

TEST(Frames, OfSamples) {
  auto frames = Frames::of(ramp({11}), framedInput({1, 4}), {.hop = 3});
  ASSERT_TRUE(frames) << frames.error().message();
  EXPECT_EQ(frames->count(), 3U);
  EXPECT_EQ(frames->left(), 1);
  for (size_t i = 0; i < 3; ++i) {
    const Tensor window = frames->at(i);
    EXPECT_EQ(window.shape(), (Shape{1, 4}));
    const auto start = static_cast<float>(3 * i);
    EXPECT_EQ(valuesOf(window),
              (std::vector<float>{start, start + 1, start + 2, start + 3}));
  }
}

TEST(Frames, OfChannels) {
  auto frames =
      Frames::of(ramp({2, 5}), framedInput({-1, 2, -1}), {.frame = 2});
  ASSERT_TRUE(frames) << frames.error().message();
  EXPECT_EQ(frames->count(), 2U);
  EXPECT_EQ(frames->left(), 1);
  EXPECT_EQ(frames->at(1).shape(), (Shape{1, 2, 2}));
  EXPECT_EQ(valuesOf(frames->at(1)), (std::vector<float>{2, 3, 7, 8}));
}

TEST(Frames, AlongAnotherDimension) {
  auto frames =
      Frames::of(ramp({4, 3}), framedInput({1, 2, 3}), {.hop = 1, .axis = 0});
  ASSERT_TRUE(frames) << frames.error().message();
  EXPECT_EQ(frames->count(), 3U);
  EXPECT_EQ(frames->left(), 0);
  EXPECT_EQ(valuesOf(frames->at(2)), (std::vector<float>{6, 7, 8, 9, 10, 11}));
}

TEST(Frames, WithoutADimensionOfOne) {
  auto frames = Frames::of(ramp({1, 8}), framedInput({4}), {});
  ASSERT_TRUE(frames) << frames.error().message();
  EXPECT_EQ(frames->count(), 2U);
  EXPECT_EQ(frames->at(1).shape(), (Shape{4}));
}

TEST(Frames, Errors) {
  struct Case {
    Tensor array;
    ModelInput input;
    FrameOptions options;
    std::string message;
  };
  const Case cases[] = {
      {ramp({8}),
       framedInput({1, -1}),
       {},
       "frame N is needed: the length of windows for input 'x', f32 [1, ?], is "
       "dynamic"},
      {ramp({8}),
       framedInput({1, 4}),
       {.frame = 3},
       "windows of 3xf32 are no input 'x', f32 [1, 4]"},
      {ramp({2, 8}),
       framedInput({1, 4}),
       {},
       "windows of 2x4xf32 are no input 'x', f32 [1, 4]"},
      {ramp({3}),
       framedInput({1, 4}),
       {},
       "the array, 3xf32, is shorter than a window of 4"},
      {ramp({8}),
       framedInput({1, 4}),
       {.axis = 1},
       "axis 1: the array, 8xf32, has no such dimension"},
      {ramp({}),
       framedInput({1, 4}),
       {},
       "axis -1: the array, f32, has no such dimension"},
      {Tensor(ElementType::I16, {8}),
       framedInput({1, 4}),
       {},
       "the array is a 8xi16, and input 'x', f32 [1, 4]"},
  };
  for (const Case &each : cases) {
    auto frames = Frames::of(each.array, each.input, each.options);
    ASSERT_FALSE(frames) << each.message;
    EXPECT_EQ(frames.error().kind, ErrorKind::Usage);
    EXPECT_EQ(frames.error().message(), each.message);
  }
}

} // namespace
} // namespace sinter
