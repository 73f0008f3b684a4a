// What is measured against direct computation over all numbers at once, and
// profiles as text.

#include "quantize/Profile.h"

#include "llvm/Support/JSON.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace sinter::quantize {
namespace {

constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

Tensor tensorOf(const Shape &shape, const std::vector<double> &numbers) {
  Tensor tensor(ElementType::F64, shape);
  for (size_t i = 0; i < numbers.size(); ++i)
    tensor.set(static_cast<int64_t>(i), numbers[i]);
  return tensor;
}

Tensor randomNumbers(const Shape &shape, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> draw(seed % 5, 1 + seed % 3);
  Tensor tensor(ElementType::F32, shape);
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.set(i, draw(random));
  return tensor;
}

const TensorProfile *tensorNamed(const Profile &profile,
                                 std::string_view name) {
  for (const TensorProfile &tensor : profile.tensors)
    if (tensor.name == name)
      return &tensor;
  return nullptr;
}

TensorProfile profileOver(const std::vector<Tensor> &tensors,
                          int64_t axis = -1) {
  TensorProfile profile;
  profile.name = "t";
  profile.channels.axis = axis;
  for (const Tensor &tensor : tensors)
    profile.measure(tensor);
  for (const Tensor &tensor : tensors)
    profile.count(tensor);
  return profile;
}

TEST(Profiles, StreamingIsAllAtOnce) {
  const std::vector<Tensor> tensors = {randomNumbers({2, 3, 4}, 1),
                                       randomNumbers({1, 3, 4}, 2),
                                       randomNumbers({5, 3, 4}, 3)};
  const TensorProfile profile = profileOver(tensors);
  std::vector<double> all;
  for (const Tensor &tensor : tensors)
    for (int64_t i = 0; i < tensor.size(); ++i)
      all.push_back(tensor.toDouble(i));
  EXPECT_EQ(profile.times, 3u);
  EXPECT_EQ(profile.elements, all.size());
  EXPECT_EQ(profile.notFinite, 0u);
  EXPECT_EQ(profile.least, *std::min_element(all.begin(), all.end()));
  EXPECT_EQ(profile.greatest, *std::max_element(all.begin(), all.end()));
  ASSERT_EQ(profile.histogram.size(), TensorProfile::bins);
  std::vector<uint64_t> wanted(TensorProfile::bins);
  double power = 0;
  for (double number : all) {
    const double bin = std::floor((number - profile.least) *
                                  static_cast<double>(TensorProfile::bins) /
                                  (profile.greatest - profile.least));
    ++wanted[static_cast<size_t>(
        std::min(bin, static_cast<double>(TensorProfile::bins - 1)))];
    power += number * number / static_cast<double>(all.size());
  }
  // A number on an edge may fall to either side.
  uint64_t off = 0, total = 0;
  for (size_t bin = 0; bin < wanted.size(); ++bin) {
    off += wanted[bin] > profile.histogram[bin];
    total += profile.histogram[bin];
  }
  EXPECT_LE(off, 1u);
  EXPECT_EQ(total, all.size());
  EXPECT_NEAR(profile.power(), power, 0.01 * power);
}

class ProfileChannels : public testing::TestWithParam<int64_t> {};

TEST_P(ProfileChannels, AlongEveryAxis) {
  const int64_t axis = GetParam();
  const std::vector<Tensor> tensors = {randomNumbers({3, 4, 2, 5}, 4),
                                       randomNumbers({3, 4, 2, 5}, 5)};
  const TensorProfile profile = profileOver(tensors, axis);
  const int64_t size = tensors[0].dim(axis);
  ASSERT_EQ(static_cast<int64_t>(profile.channels.least.size()), size);
  int64_t inner = 1;
  for (int64_t i = axis + 1; i < 4; ++i)
    inner *= tensors[0].dim(i);
  for (int64_t channel = 0; channel < size; ++channel) {
    double least = infinite, greatest = -infinite, mean = 0, square = 0;
    for (const Tensor &tensor : tensors)
      for (int64_t i = 0; i < tensor.size(); ++i) {
        if (i / inner % size != channel)
          continue;
        const double number = tensor.toDouble(i);
        least = std::min(least, number);
        greatest = std::max(greatest, number);
        mean += number * static_cast<double>(size) / (2.0 * 120);
        square += number * number * static_cast<double>(size) / (2.0 * 120);
      }
    EXPECT_EQ(profile.channels.least[channel], least);
    EXPECT_EQ(profile.channels.greatest[channel], greatest);
    EXPECT_NEAR(profile.channels.mean[channel], mean, 1e-9);
    EXPECT_NEAR(profile.channels.square[channel], square, 1e-9);
  }
}

INSTANTIATE_TEST_SUITE_P(Axes, ProfileChannels, testing::Values(0, 1, 2, 3));

TEST(Profiles, WhatIsNotFiniteIsCountedApart) {
  const TensorProfile profile = profileOver(
      {tensorOf({2, 3}, {1, notANumber, -2, infinite, -infinite, 4})}, 1);
  EXPECT_EQ(profile.notFinite, 3u);
  EXPECT_EQ(profile.elements, 3u);
  EXPECT_EQ(profile.least, -2);
  EXPECT_EQ(profile.greatest, 4);
  uint64_t total = 0;
  for (uint64_t count : profile.histogram)
    total += count;
  EXPECT_EQ(total, 3u);
}

TEST(Profiles, NothingButWhatIsNotFinite) {
  const TensorProfile profile = profileOver({tensorOf({1}, {notANumber})});
  EXPECT_FALSE(profile.wasReached());
  EXPECT_EQ(profile.times, 1u);
  EXPECT_TRUE(profile.histogram.empty());
}

TEST(Profiles, AConstantNeedsNoHistogram) {
  const TensorProfile profile = profileOver({tensorOf({3}, {-2, -2, -2})});
  EXPECT_TRUE(profile.isConstant());
  EXPECT_TRUE(profile.histogram.empty());
  EXPECT_EQ(profile.power(), 4);
}

TEST(Profiles, EmptyTensors) {
  const TensorProfile none = profileOver({tensorOf({0, 2}, {})}, 1);
  EXPECT_EQ(none.times, 1u);
  EXPECT_FALSE(none.wasReached());
  EXPECT_EQ(none.power(), 0);
  // One that has no numbers has no mean either.
  const TensorProfile some =
      profileOver({tensorOf({0, 2}, {}), tensorOf({1, 2}, {3, 5}),
                   tensorOf({0, 2}, {}), tensorOf({2, 2}, {1, 1, 1, 3})},
                  1);
  ASSERT_EQ(some.channels.mean.size(), 2u);
  EXPECT_DOUBLE_EQ(some.channels.mean[0], (3 + 1) / 2.0);
  EXPECT_DOUBLE_EQ(some.channels.mean[1], (5 + 2) / 2.0);
}

TEST(Profiles, ChannelsOfChangingNumberAreLeftOut) {
  const TensorProfile profile = profileOver(
      {tensorOf({2}, {1, 2}), tensorOf({3}, {1, 2, 3}), tensorOf({2}, {1, 2})},
      0);
  EXPECT_EQ(profile.channels.axis, -1);
  EXPECT_TRUE(profile.channels.mean.empty());
  EXPECT_EQ(profile.elements, 7u);
  // An axis that the tensor has not.
  EXPECT_EQ(profileOver({tensorOf({2}, {1, 2})}, 4).channels.axis, -1);
}

TEST(Profiles, OtherFloats) {
  const uint16_t half[] = {0x3C00, 0xC000, 0x7C00}; // 1, -2, infinity
  const TensorProfile f16 = profileOver(
      {Tensor::of<uint16_t>(ElementType::F16, {3}, std::span(half))});
  EXPECT_EQ(f16.least, -2);
  EXPECT_EQ(f16.greatest, 1);
  EXPECT_EQ(f16.notFinite, 1u);
  const uint16_t brain[] = {0x3F80, 0xC040, 0x7FC0}; // 1, -3, NaN
  const TensorProfile bf16 = profileOver(
      {Tensor::of<uint16_t>(ElementType::BF16, {3}, std::span(brain))});
  EXPECT_EQ(bf16.least, -3);
  EXPECT_EQ(bf16.greatest, 1);
  EXPECT_EQ(bf16.notFinite, 1u);
}

//===----------------------------------------------------------------------===//
// As text
//===----------------------------------------------------------------------===//

void expectSame(const TensorProfile &a, const TensorProfile &b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.times, b.times);
  EXPECT_EQ(a.elements, b.elements);
  EXPECT_EQ(a.notFinite, b.notFinite);
  EXPECT_EQ(a.least, b.least);
  EXPECT_EQ(a.greatest, b.greatest);
  EXPECT_EQ(a.histogram, b.histogram);
  EXPECT_EQ(a.channels.axis, b.channels.axis);
  EXPECT_EQ(a.channels.least, b.channels.least);
  EXPECT_EQ(a.channels.greatest, b.channels.greatest);
  EXPECT_EQ(a.sampleMinMax.least, b.sampleMinMax.least);
  EXPECT_EQ(a.sampleMinMax.greatest, b.sampleMinMax.greatest);
  EXPECT_EQ(a.channels.mean, b.channels.mean);
  EXPECT_EQ(a.channels.square, b.channels.square);
}

TEST(Profiles, ThereAndBack) {
  Profile profile;
  profile.model = "0123abcd";
  profile.samples = 7;
  profile.tensors = {profileOver({randomNumbers({2, 3}, 1)}, 1),
                     profileOver({randomNumbers({4}, 2)}),
                     profileOver({tensorOf({2}, {5, 5})}),
                     profileOver({tensorOf({0}, {})}),
                     profileOver({tensorOf({2}, {1, notANumber})})};
  for (size_t i = 0; i < profile.tensors.size(); ++i)
    profile.tensors[i].name = "tensor/\"" + std::to_string(i) + "\":0";
  profile.equalized = {{"tensor", {1, 0.5, 3}}};
  const std::string text = toJson(profile);
  auto back = profileFromJson(text, "p.json");
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(back->model, profile.model);
  EXPECT_EQ(back->samples, profile.samples);
  ASSERT_EQ(back->tensors.size(), profile.tensors.size());
  for (const TensorProfile &tensor : profile.tensors) {
    const TensorProfile *found = tensorNamed(*back, tensor.name);
    ASSERT_TRUE(found) << tensor.name;
    expectSame(tensor, *found);
  }
  ASSERT_EQ(back->equalized.size(), 1u);
  EXPECT_EQ(back->equalized[0].factors, profile.equalized[0].factors);
  EXPECT_EQ(toJson(*back), text);
  EXPECT_EQ(tensorNamed(*back, "another"), nullptr);
}

TEST(Profiles, OldNames) {
  Profile profile;
  profile.tensors = {profileOver({randomNumbers({2, 3}, 1)}, 1)};
  profile.tensors[0].name = "tensor";
  std::string text = toJson(profile);
  const std::string current = "sample_min_max";
  const size_t at = text.find(current);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, current.size(), "extremes");
  auto back = profileFromJson(text, "p.json");
  ASSERT_TRUE(back) << back.error().message();
  ASSERT_EQ(back->tensors.size(), 1u);
  expectSame(back->tensors[0], profile.tensors[0]);
}

TEST(Profiles, TheOutermostNumbersOfEachTime) {
  TensorProfile profile;
  for (int i = 0; i < 40; ++i)
    profile.measure(tensorOf({3}, {0, -i % 7 * 1.0, i * 7 % 40 + 1.0}));
  profile.measure(tensorOf({1}, {notANumber}));
  ASSERT_EQ(profile.sampleMinMax.least.size(), MinMax::most);
  ASSERT_EQ(profile.sampleMinMax.greatest.size(), MinMax::most);
  std::vector<double> all;
  for (int i = 0; i < 40; ++i)
    all.push_back(-i % 7);
  std::sort(all.begin(), all.end());
  for (size_t i = 0; i < MinMax::most; ++i) {
    EXPECT_EQ(profile.sampleMinMax.greatest[i], 40 - static_cast<double>(i));
    EXPECT_EQ(profile.sampleMinMax.least[i], all[i]);
  }
  EXPECT_EQ(profile.sampleMinMax.greatest.front(), profile.greatest);
  EXPECT_EQ(profile.sampleMinMax.least.front(), profile.least);
}

// A channel in which nothing was finite has no range that JSON could say.
TEST(Profiles, TextIsJsonWhateverWasSeen) {
  Profile profile;
  profile.tensors = {
      profileOver({tensorOf({2, 2}, {1, notANumber, 2, infinite})}, 1)};
  profile.tensors[0].name = "bytes \xff\xfe";
  const std::string text = toJson(profile);
  auto parsed = llvm::json::parse(text);
  EXPECT_TRUE(static_cast<bool>(parsed)) << text.substr(0, 400);
  if (!parsed)
    llvm::consumeError(parsed.takeError());
  EXPECT_TRUE(profileFromJson(text, "p.json"));
}

struct BadProfile {
  const char *text, *mentions;
};

class BadProfiles : public testing::TestWithParam<BadProfile> {};

TEST_P(BadProfiles, AreRefused) {
  auto read = profileFromJson(GetParam().text, "p.json");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, ErrorKind::System);
  EXPECT_NE(read.error().message().find("profile p.json"), std::string::npos);
  EXPECT_NE(read.error().message().find(GetParam().mentions), std::string::npos)
      << read.error().message();
}

INSTANTIATE_TEST_SUITE_P(
    Texts, BadProfiles,
    testing::Values(
        BadProfile{"", "no JSON"}, BadProfile{"{", "no JSON"},
        BadProfile{"[]", "no object \"tensors\""},
        BadProfile{"{\"tensors\": 3}", "no object \"tensors\""},
        BadProfile{R"({"tensors": {"t": 1}})", "\"t\" is no object"},
        BadProfile{R"({"tensors": {"t": {"elements": 1}}})",
                   "tensor 't': \"min\" and \"max\""},
        BadProfile{R"({"tensors": {"t": {"elements": 1, "min": 2, "max": 1}}})",
                   "in this order"},
        BadProfile{
            R"({"tensors": {"t": {"elements": 1, "min": "a", "max": 1}}})",
            "must be numbers"},
        BadProfile{
            R"({"tensors": {"t": {"elements": 1, "min": -1e999, "max": 1}}})",
            "p.json"},
        BadProfile{
            R"({"tensors": {"t": {"elements": 1, "min": 0, "max": 1, "histogram": [1]}}})",
            "must have 2048 bins"},
        BadProfile{
            R"({"tensors": {"t": {"elements": 1, "min": 0, "max": 1, "histogram": [-1]}}})",
            "no count"},
        BadProfile{
            R"({"tensors": {"t": {"elements": 1, "min": 0, "max": 1, "histogram": [0.5]}}})",
            "no count"},
        BadProfile{
            R"({"tensors": {"t": {"elements": 1, "min": 0, "max": 1, "sample_min_max": {"min": [0]}}}})",
            "\"sample_min_max\" needs lists"},
        BadProfile{
            R"({"tensors": {"t": {"elements": 1, "min": 0, "max": 1, "sample_min_max": {"min": [0, 0], "max": [1]}}}})",
            "of one length"},
        BadProfile{
            R"({"tensors": {"t": {"elements": 1, "min": 0, "max": 1, "sample_min_max": {"min": [0, 0], "max": [1, 2]}}}})",
            "the outermost value first"},
        BadProfile{
            R"({"tensors": {"t": {"elements": 1, "min": 0, "max": 1, "extremes": {"min": [0]}}}})",
            "\"extremes\" needs lists"},
        BadProfile{
            R"({"tensors": {"t": {"elements": 1, "min": 0, "max": 1, "channels": {}}}})",
            "\"channels\" needs \"axis\""},
        BadProfile{
            R"({"tensors": {"t": {"elements": 1, "min": 0, "max": 1, "channels": {"axis": 0, "min": [1], "max": [1, 2], "mean": [1], "mean_square": [1]}}}})",
            "of one length"},
        BadProfile{
            R"({"tensors": {"t": {"elements": 1, "min": 0, "max": 1, "channels": {"axis": 0, "min": ["a"], "max": [1], "mean": [1], "mean_square": [1]}}}})",
            "\"channels\" needs"},
        BadProfile{R"({"equalized": {"t": [1, 0]}, "tensors": {}})",
                   "no list of positive numbers"},
        BadProfile{R"({"equalized": {"t": 1}, "tensors": {}})",
                   "no list of positive numbers"}));

// Counts below zero are none.
TEST(Profiles, NegativeCounts) {
  auto read = profileFromJson(
      R"({"samples": -3, "tensors": {"t": {"times": -1, "elements": -5}}})",
      "p.json");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->samples, 0u);
  EXPECT_EQ(read->tensors[0].times, 0u);
  EXPECT_FALSE(read->tensors[0].wasReached());
}

} // namespace
} // namespace sinter::quantize
