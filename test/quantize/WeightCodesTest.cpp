// Weights as integers against their definitions.

#include "quantize/WeightCodes.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

namespace sinter::quantize {
namespace {

Tensor randomWeights(const Shape &shape, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> draw;
  Tensor tensor(ElementType::F32, shape);
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.set(i, draw(random) * (i % 3 == 0 ? 4.0f : 0.2f));
  return tensor;
}

/// The place of element \p index along \p axis.
int64_t placeAlong(const Tensor &tensor, int64_t index, int64_t axis) {
  for (int64_t i = tensor.rank() - 1; i > axis; --i)
    index /= tensor.dim(i);
  return index % tensor.dim(axis);
}

double squaredError(const Tensor &weights, const WeightCode &code) {
  double sum = 0;
  for (int64_t i = 0; i < weights.size(); ++i)
    sum += std::pow(code.number(i) - weights.toDouble(i), 2);
  return sum;
}

using WeightCell =
    std::tuple<int64_t, ElementType, RangeMethod, Scheme, unsigned>;
class WeightCodes : public testing::TestWithParam<WeightCell> {};

TEST_P(WeightCodes, AreTheNearestIntegers) {
  const auto [axisOrAll, type, range, scheme, seed] = GetParam();
  const Tensor weights = randomWeights({3, 4, 5}, seed);
  const std::optional<int64_t> axis =
      axisOrAll < 0 ? std::nullopt : std::optional(axisOrAll);
  QuantizeOptions options;
  options.weights = type;
  options.range = range;
  options.scheme = scheme;
  const auto code = encodeWeights(weights, axis, options);
  ASSERT_TRUE(code);
  EXPECT_EQ(code->elements.type(), type);
  EXPECT_EQ(code->elements.shape(), weights.shape());
  ASSERT_EQ(static_cast<int64_t>(code->scales.size()),
            axis ? weights.dim(*axis) : 1);
  const double most = type == ElementType::I4 ? 7 : 127;
  std::vector<double> widest(code->scales.size());
  for (int64_t i = 0; i < weights.size(); ++i) {
    const size_t slice = axis ? placeAlong(weights, i, *axis) : 0;
    const double scale = code->scales[slice];
    widest[slice] = std::max(widest[slice], std::abs(weights.toDouble(i)));
    const double wanted =
        std::clamp(std::nearbyint(weights.toDouble(i) / scale), -most, most);
    EXPECT_EQ(static_cast<double>(code->elements.toInteger(i)), wanted);
    EXPECT_EQ(code->number(i), wanted * scale);
  }
  for (size_t slice = 0; slice < widest.size(); ++slice) {
    const double scale = code->scales[slice], whole = widest[slice] / most;
    EXPECT_EQ(scale, static_cast<double>(static_cast<float>(scale)));
    if (scheme == Scheme::PowerOfTwo) {
      int exponent = 0;
      EXPECT_EQ(std::frexp(scale, &exponent), 0.5);
      EXPECT_GE(scale, whole * (1 - 1e-6));
      EXPECT_LE(scale, whole * 2 * (1 + 1e-6));
    } else {
      EXPECT_LE(scale, whole * (1 + 1e-6));
      if (range == RangeMethod::Max)
        EXPECT_GE(scale, whole * (1 - 1e-6));
    }
  }
  // The whole range is one of the choices.
  options.range = RangeMethod::Max;
  EXPECT_LE(squaredError(weights, *code),
            squaredError(weights, *encodeWeights(weights, axis, options)) *
                (1 + 1e-12));
}

INSTANTIATE_TEST_SUITE_P(
    Cells, WeightCodes,
    testing::Combine(testing::Values(-1, 0, 1, 2),
                     testing::Values(ElementType::I8, ElementType::I4),
                     testing::Values(RangeMethod::Best, RangeMethod::Max,
                                     RangeMethod::SquaredError),
                     testing::Values(Scheme::Asymmetric, Scheme::PowerOfTwo),
                     testing::Values(1u, 2u, 3u)));

TEST(WeightCodesTest, ChannelsAreNoWorseThanOneScale) {
  const Tensor weights = randomWeights({8, 16}, 7);
  EXPECT_LE(squaredError(weights, *encodeWeights(weights, 0, {})),
            squaredError(weights, *encodeWeights(weights, std::nullopt, {})));
}

TEST(WeightCodesTest, NumbersThatAreNotFiniteAreRefused) {
  for (float number : {std::numeric_limits<float>::infinity(),
                       -std::numeric_limits<float>::infinity(),
                       std::numeric_limits<float>::quiet_NaN()}) {
    Tensor weights = randomWeights({2, 3}, 1);
    weights.set(4, number);
    EXPECT_FALSE(encodeWeights(weights, 0, {}));
    EXPECT_FALSE(encodeWeights(weights, std::nullopt, {}));
    QuantizeOptions options;
    options.block = 3;
    EXPECT_FALSE(encodeBlocks(weights, 1, options));
  }
}

TEST(WeightCodesTest, SlicesOfZeros) {
  Tensor weights(ElementType::F32, {2, 3});
  weights.set(0, 2.0f);
  const auto code = encodeWeights(weights, 0, {});
  ASSERT_TRUE(code);
  EXPECT_EQ(code->scales[1], 1);
  for (int64_t i = 3; i < 6; ++i)
    EXPECT_EQ(code->elements.toInteger(i), 0);
  EXPECT_TRUE(encodeWeights(Tensor(ElementType::F32, {0, 3}), 1, {}));
}

TEST(WeightCodesTest, TinyAndHugeNumbersHaveNormalScales) {
  for (float number : {1e-44f, 1e-38f, 3e38f}) {
    Tensor weights(ElementType::F32, {1});
    weights.set(0, number);
    const auto code = encodeWeights(weights, std::nullopt, {});
    ASSERT_TRUE(code);
    const auto scale = static_cast<float>(code->scales[0]);
    EXPECT_TRUE(std::isnormal(scale)) << number;
    EXPECT_TRUE(std::isnormal(1 / scale)) << number;
  }
}

TEST(WeightCodesTest, NoScaleIsLessThanAskedFor) {
  const Tensor weights = randomWeights({3, 10}, 4);
  for (Scheme scheme : {Scheme::Asymmetric, Scheme::PowerOfTwo}) {
    QuantizeOptions options;
    options.scheme = scheme;
    const std::vector<double> least = {1e-9, 3, 0.25};
    const auto code = encodeWeights(weights, 0, options, least);
    ASSERT_TRUE(code);
    for (size_t i = 0; i < least.size(); ++i) {
      EXPECT_GE(code->scales[i], least[i] * (1 - 1e-6));
      int exponent = 0;
      if (scheme == Scheme::PowerOfTwo)
        EXPECT_EQ(std::frexp(code->scales[i], &exponent), 0.5) << i;
    }
    for (int64_t i = 10; i < 20; ++i)
      EXPECT_EQ(static_cast<double>(code->elements.toInteger(i)),
                std::nearbyint(weights.toDouble(i) / code->scales[1]));
  }
}

class Blocks : public testing::TestWithParam<std::tuple<int64_t, int64_t>> {};

// Each block is a tensor of its own.
TEST_P(Blocks, AreEncodedByThemselves) {
  const auto [axis, block] = GetParam();
  const Tensor weights = randomWeights({6, 12}, 9);
  QuantizeOptions options;
  options.block = block;
  const auto code = encodeBlocks(weights, axis, options);
  if (weights.dim(axis) % block != 0) {
    EXPECT_FALSE(code);
    return;
  }
  ASSERT_TRUE(code);
  Shape wanted = weights.shape();
  wanted[axis] /= block;
  EXPECT_EQ(code->scales.shape(), wanted);
  for (int64_t row = 0; row < wanted[0]; ++row)
    for (int64_t column = 0; column < wanted[1]; ++column) {
      Tensor part(ElementType::F32, {block});
      const auto place = [&](int64_t i) {
        return axis == 0 ? (row * block + i) * 12 + column
                         : row * 12 + column * block + i;
      };
      for (int64_t i = 0; i < block; ++i)
        part.set(i, static_cast<float>(weights.toDouble(place(i))));
      const auto alone = encodeWeights(part, std::nullopt, options);
      EXPECT_EQ(code->scales.toDouble(row * wanted[1] + column),
                alone->scales[0]);
      for (int64_t i = 0; i < block; ++i)
        EXPECT_EQ(code->elements.toInteger(place(i)),
                  alone->elements.toInteger(i));
    }
}

INSTANTIATE_TEST_SUITE_P(Cells, Blocks,
                         testing::Combine(testing::Values(0, 1),
                                          testing::Values(1, 2, 3, 4, 5, 6)));

TEST(WeightCodesTest, BiasesAreRoundedAndBounded) {
  Tensor bias(ElementType::F32, {5});
  const float numbers[] = {1.0f, -2.6f, 1e30f, -1e30f, 0.0f};
  for (int64_t i = 0; i < 5; ++i)
    bias.set(i, numbers[i]);
  const Tensor one = encodeBias(bias, {0.5});
  EXPECT_EQ(one.type(), ElementType::I32);
  EXPECT_EQ(one.toInteger(0), 2);
  EXPECT_EQ(one.toInteger(1), -5);
  EXPECT_EQ(one.toInteger(2), std::numeric_limits<int32_t>::max());
  EXPECT_EQ(one.toInteger(3), -std::numeric_limits<int32_t>::max());
  EXPECT_EQ(one.toInteger(4), 0);
  const Tensor each = encodeBias(bias, {1, 0.1, 1e29, 1e29, 1});
  EXPECT_EQ(each.toInteger(1), -26);
  EXPECT_EQ(each.toInteger(2), 10);
  EXPECT_EQ(each.toInteger(3), -10);
}

} // namespace
} // namespace sinter::quantize
