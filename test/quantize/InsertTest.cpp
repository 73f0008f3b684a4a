// Graphs with integers against a scalar model of quantising and dequantising.

#include "quantize/Insert.h"

#include "mlir/IR/Verifier.h"
#include "quantize/QuantizeGraph.h"
#include "quantize/WeightCodes.h"

#include <random>

namespace sinter::quantize {
namespace {

using test::QuantizeGraph;

constexpr int64_t rows = 4, depth = 6, columns = 5;

/// y = x w + b, with $weights and $bias.
std::string product(const std::vector<double> &weights,
                    const std::vector<double> &bias) {
  const auto text = [](const std::vector<double> &numbers, size_t inner) {
    std::string all = "[";
    for (size_t i = 0; i < numbers.size(); ++i) {
      all += i ? ", " : "";
      all += inner && i % inner == 0 ? "[" : "";
      char number[40];
      std::snprintf(number, sizeof number, "%.9e", numbers[i]);
      all += number;
      all += inner && i % inner == inner - 1 ? "]" : "";
    }
    return all + "]";
  };
  return test::fill(
      R"(
func.func @main(%x: tensor<4x6xf32>) -> tensor<4x5xf32> {
  %w = stablehlo.constant dense<$weights> : tensor<6x5xf32>
  %b = stablehlo.constant dense<$bias> : tensor<5xf32>
  %r = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<5xf32>) -> tensor<4x5xf32>
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x6xf32>, tensor<6x5xf32>) -> tensor<4x5xf32>
  %y = stablehlo.add %p, %r : tensor<4x5xf32>
  return %y : tensor<4x5xf32>
})",
      {{"weights", text(weights, columns)}, {"bias", text(bias, 0)}});
}

std::vector<double> drawn(std::mt19937 &random, size_t count, double scale) {
  std::uniform_real_distribution<float> draw(-1, 1);
  std::vector<double> numbers;
  for (size_t i = 0; i < count; ++i)
    numbers.push_back(static_cast<float>(draw(random) * scale));
  return numbers;
}

Tensor floats(const Shape &shape, const std::vector<double> &numbers) {
  Tensor tensor(ElementType::F32, shape);
  for (size_t i = 0; i < numbers.size(); ++i)
    tensor.set(static_cast<int64_t>(i), static_cast<float>(numbers[i]));
  return tensor;
}

std::vector<Tensor> interpreted(const Model &model, const Tensor &x) {
  auto outputs = interpret(model.entry(), {x});
  EXPECT_TRUE(outputs) << (outputs ? "" : outputs.error().message());
  return outputs ? std::move(*outputs) : std::vector<Tensor>();
}

/// The definition, without the codes' own functions: x to the nearest element
/// of a range, w by column or as a whole.
double clampedElement(double number, double scale, double zeroPoint,
                      double least, double greatest) {
  return (std::clamp(std::nearbyint(number / scale) + zeroPoint, least,
                     greatest) -
          zeroPoint) *
         scale;
}

struct InsertCell {
  Scheme scheme;
  ElementType activations;
  bool perChannel;
  QuantizedRounding rounding;
};

class Inserted
    : public testing::TestWithParam<std::tuple<InsertCell, unsigned>> {};

TEST_P(Inserted, IsTheDefinition) {
  const auto &[cell, seed] = GetParam();
  std::mt19937 random(seed);
  const double scale = std::exp2(static_cast<int>(seed % 7) - 3);
  const std::vector<double> weights = drawn(random, depth * columns, 1),
                            bias = drawn(random, columns, 2),
                            numbers = drawn(random, rows * depth, scale * 1.3);
  QuantizeGraph graph(product(weights, bias));
  // The range is not that of the data: some numbers saturate.
  graph.profileAll(-scale * (seed % 3) / 2, scale);
  QuantizeOptions options;
  options.scheme = cell.scheme;
  options.activations = cell.activations;
  options.perChannel = cell.perChannel;
  options.range = RangeMethod::Max;
  options.correctBias = false;
  graph.makePlan(options);
  ASSERT_TRUE(graph.isQuantized("dot_general"));
  const LinearCode code = graph.plan.values.front().second.code;
  graph.insert(options, cell.rounding);
  const Tensor x = floats({rows, depth}, numbers);
  const std::vector<Tensor> got = interpreted(graph.model, x);
  ASSERT_EQ(got.size(), 1u);

  double least = -128, greatest = 127;
  if (code.storage == ElementType::UI8)
    least = 0, greatest = 255;
  else if (code.storage == ElementType::I16)
    least = -32768, greatest = 32767;
  std::vector<double> widest(columns);
  double whole = 0;
  for (int64_t i = 0; i < depth * columns; ++i) {
    widest[i % columns] = std::max(widest[i % columns], std::abs(weights[i]));
    whole = std::max(whole, std::abs(weights[i]));
  }
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      double step = (cell.perChannel ? widest[column] : whole) / 127;
      if (cell.scheme == Scheme::PowerOfTwo)
        step = std::exp2(std::ceil(std::log2(step)));
      step = static_cast<float>(step);
      // The bias has the scale of the products.
      const double stepOfBias = static_cast<float>(step * code.scale);
      double wanted = std::nearbyint(bias[column] / stepOfBias) * stepOfBias,
             magnitude = std::abs(wanted);
      for (int64_t k = 0; k < depth; ++k) {
        const double a = clampedElement(
                         static_cast<float>(numbers[row * depth + k]),
                         code.scale, static_cast<double>(code.zeroPoint), least,
                         greatest),
                     b = clampedElement(weights[k * columns + column], step, 0,
                                        -127, 127);
        wanted += a * b;
        magnitude += std::abs(a * b);
      }
      EXPECT_NEAR(got[0].toDouble(row * columns + column), wanted,
                  1e-6 * magnitude + 1e-9);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Cells, Inserted,
    testing::Combine(
        testing::Values(InsertCell{Scheme::Asymmetric, ElementType::UI8, true,
                                   QuantizedRounding::BeforeZeroPoint},
                        InsertCell{Scheme::Asymmetric, ElementType::UI8, false,
                                   QuantizedRounding::BeforeZeroPoint},
                        InsertCell{Scheme::Asymmetric, ElementType::I8, true,
                                   QuantizedRounding::AfterZeroPoint},
                        InsertCell{Scheme::Asymmetric, ElementType::I16, true,
                                   QuantizedRounding::BeforeZeroPoint},
                        InsertCell{Scheme::Symmetric, ElementType::I8, true,
                                   QuantizedRounding::AfterZeroPoint},
                        InsertCell{Scheme::Symmetric, ElementType::I8, false,
                                   QuantizedRounding::BeforeZeroPoint},
                        InsertCell{Scheme::SymmetricU8, ElementType::UI8, true,
                                   QuantizedRounding::BeforeZeroPoint},
                        InsertCell{Scheme::PowerOfTwo, ElementType::I8, true,
                                   QuantizedRounding::BeforeZeroPoint}),
        testing::Range(1u, 22u)));

// What weights' errors add to the mean of each column, the bias takes away, but
// for its own rounding, where the data are one sample and its numbers exact.
TEST(Insert, BiasCorrectionRemovesTheMeanError) {
  std::mt19937 random(3);
  const std::vector<double> weights = drawn(random, depth * columns, 1),
                            bias = drawn(random, columns, 1);
  std::vector<double> numbers;
  std::uniform_int_distribution<int> draw(0, 255);
  for (int64_t i = 0; i < rows * depth; ++i)
    numbers.push_back(draw(random) / 256.0);
  numbers[0] = 0;
  const Tensor x = floats({rows, depth}, numbers);
  for (ElementType type : {ElementType::I8, ElementType::I4}) {
    double errors[2] = {};
    for (bool corrects : {false, true}) {
      QuantizeGraph graph(product(weights, bias));
      graph.profileAll(-1, 1);
      TensorProfile &input =
          graph.profile(graph.model.entry().getArgument(0), 0, 255.0 / 256);
      input.channels.axis = 1;
      input.times = 0;
      TensorProfile seen;
      seen.channels.axis = 1;
      seen.measure(x);
      input.channels = seen.channels;
      input.times = 1;
      QuantizeOptions options;
      options.weights = type;
      options.range = RangeMethod::Max;
      options.correctBias = corrects;
      graph.makePlan(options);
      const std::vector<Tensor> before = interpreted(graph.model, x);
      graph.insert(options);
      const std::vector<Tensor> after = interpreted(graph.model, x);
      for (int64_t column = 0; column < columns; ++column) {
        double mean = 0;
        for (int64_t row = 0; row < rows; ++row)
          mean += (after[0].toDouble(row * columns + column) -
                   before[0].toDouble(row * columns + column)) /
                  rows;
        errors[corrects] = std::max(errors[corrects], std::abs(mean));
      }
    }
    EXPECT_GT(errors[0], 1e-4);
    // Half a step of the bias, which has the scale of the products.
    EXPECT_LT(errors[1], 0.51 / 256 / (type == ElementType::I4 ? 7 : 127));
  }
}

// Numbers below half a step become zero, and those beyond the range its end:
// what that takes from the mean of each column the bias gives back, if it was
// measured for the integers that were chosen.
TEST(Insert, BiasCorrectionTakesUpTheErrorsOfActivations) {
  std::mt19937 random(4);
  const std::vector<double> weights = drawn(random, depth * columns, 1),
                            bias = drawn(random, columns, 1);
  std::vector<double> numbers;
  for (int64_t i = 0; i < rows * depth; ++i)
    numbers.push_back(i % 5 == 0 ? 3.5 : 0.0013 * static_cast<double>(i % 3));
  const Tensor x = floats({rows, depth}, numbers);
  const auto off = [&](bool isMeasured, bool isOfOthers) {
    QuantizeGraph graph(product(weights, bias));
    graph.profileAll(-1, 1);
    TensorProfile &input =
        graph.profile(graph.model.entry().getArgument(0), 0, 2);
    input.channels.axis = 1;
    input.times = 0;
    TensorProfile seen;
    seen.channels.axis = 1;
    seen.measure(x);
    QuantizeOptions options;
    options.range = RangeMethod::Max;
    if (isMeasured)
      seen.channels.errors = codeOf({0, isOfOthers ? 3.0 : 2.0},
                                    options.activations, options.scheme)
                                 .numbers();
    seen.compare(x);
    input.channels = seen.channels;
    input.times = 1;
    graph.makePlan(options);
    const std::vector<Tensor> before = interpreted(graph.model, x);
    graph.insert(options);
    const std::vector<Tensor> after = interpreted(graph.model, x);
    double most = 0;
    for (int64_t column = 0; column < columns; ++column) {
      double mean = 0;
      for (int64_t row = 0; row < rows; ++row)
        mean += (after[0].toDouble(row * columns + column) -
                 before[0].toDouble(row * columns + column)) /
                rows;
      most = std::max(most, std::abs(mean));
    }
    return most;
  };
  const double without = off(false, false);
  EXPECT_GT(without, 0.05);
  EXPECT_LT(off(true, false), 1e-3);
  EXPECT_EQ(off(true, true), without);
}

TEST(Insert, WeightsThatAreNotFiniteStayFloat) {
  QuantizeGraph graph(R"(
func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %w = stablehlo.constant dense<[[0.5, 0x7F800000], [1.0, 2.0]]> : tensor<2x2xf32>
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %p : tensor<2x2xf32>
})");
  graph.profileAll(-1, 1);
  graph.makePlan();
  graph.insert();
  EXPECT_FALSE(graph.isQuantized("dot_general"));
  EXPECT_EQ(
      graph.reason("dot_general"),
      "its weights are not finite, or too small for a scale of their type");
}

// The caller gets the number that was computed, not the rounded one.
TEST(Insert, OutputsAreNotRounded) {
  QuantizeGraph graph(R"(
func.func @main(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %w = stablehlo.constant dense<[[0.5, 1.0], [1.0, 2.0]]> : tensor<2x2xf32>
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %q = stablehlo.dot_general %p, %w, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %p, %q : tensor<2x2xf32>, tensor<2x2xf32>
})");
  graph.profileAll(-4, 4);
  mlir::Value first = graph.at("dot_general").result;
  graph.makePlan();
  graph.insert();
  mlir::Operation *back = graph.model.entry().front().getTerminator();
  EXPECT_EQ(back->getOperand(0), first);
}

/// Narrow floats: scales must be numbers of theirs.
TEST(Insert, NarrowFloats) {
  for (const char *type : {"f16", "bf16"})
    for (const char *number : {"0.5", "1.0e-6"}) {
      QuantizeGraph graph(test::fill(R"(
func.func @main(%x: tensor<2x2x$T>) -> tensor<2x2x$T> {
  %w = stablehlo.constant dense<[[$number, $number], [0.0, $number]]> : tensor<2x2x$T>
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x2x$T>, tensor<2x2x$T>) -> tensor<2x2x$T>
  return %p : tensor<2x2x$T>
})",
                                     {{"T", type}, {"number", number}}));
      for (double range : {1.0, 1e-6}) {
        graph.profileAll(-range, range);
        graph.makePlan();
      }
      graph.insert();
      EXPECT_FALSE(test::run(graph.model).empty());
    }
}

} // namespace
} // namespace sinter::quantize
