// Weights that are integers times a scale for each channel: found by their
// numbers, and convolved as such.
//
// Covers: backend/cpu/weights ScaledWeights

#include "backend/cpu/weights/ScaledWeights.h"
#include "backend/cpu/WithoutMatrixUnits.h"

#include "backend/cpu/CompareWithInterpreter.h"
#include "backend/cpu/ConstantText.h"
#include "backend/cpu/program/Compiler.h"
#include "runtime/Program.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace sinter;
using namespace sinter::test;

namespace {

/// Integers from \p least to \p most times a scale for each channel; \p factors
/// are multiplied to what was rounded, as a batch norm that is folded does.
Tensor scaledWeights(const Shape &shape, int least, int most, bool hasFactors,
                     unsigned seed) {
  std::mt19937 random(seed);
  auto between = [&](double low, double high) {
    return low + (high - low) * (random() * 0x1p-32);
  };
  Tensor weights(ElementType::F32, shape);
  const int64_t each = weights.size() / shape[0];
  for (int64_t channel = 0; channel < shape[0]; ++channel) {
    const auto scale = static_cast<float>(between(1e-4, 2e-2)),
               factor = static_cast<float>(hasFactors ? between(-3, 3) : 1.0);
    for (int64_t i = 0; i < each; ++i) {
      const int integer = int(random() % unsigned(most - least + 1)) + least;
      weights.set<float>(channel * each + i, float(integer) * scale * factor);
    }
  }
  return weights;
}

Tensor scaledWeights(const Shape &shape, int most, bool hasFactors,
                     unsigned seed) {
  return scaledWeights(shape, -most, most, hasFactors, seed);
}

TEST(ScaledWeights, AreFoundByTheirNumbers) {
  for (int most : {1, 7, 100, 127, 128, 255})
    for (bool hasFactors : {false, true}) {
      const Tensor weights =
          scaledWeights({5, 3, 2, 2}, most, hasFactors, most);
      auto found = cpu::asScaledIntegers(weights);
      ASSERT_TRUE(found) << most << hasFactors;
      EXPECT_EQ(found->integers.shape(), weights.shape());
      for (int64_t i = 0; i < weights.size(); ++i) {
        const double was = weights.toDouble(i),
                     is = found->integers.toDouble(i) *
                          found->scales.toDouble(i / 12);
        EXPECT_NEAR(is, was, std::abs(was) * 0x1p-22);
      }
    }
}

/// The least integers: 7 times a scale is also 126 times another.
TEST(ScaledWeights, HaveNoCommonDivisor) {
  Tensor weights(ElementType::F32, {2, 3});
  const int given[] = {7, -3, 0, 126, -54, 18}, least[] = {7, -3, 0, 7, -3, 1};
  for (int64_t i = 0; i < 6; ++i)
    weights.set<float>(i, float(given[i]) * 0.01F);
  auto found = cpu::asScaledIntegers(weights);
  ASSERT_TRUE(found);
  for (int64_t i = 0; i < 6; ++i)
    EXPECT_EQ(found->integers.toInteger(i), least[i]);
  EXPECT_FLOAT_EQ(found->scales.at<float>(0), 0.01F);
  EXPECT_FLOAT_EQ(found->scales.at<float>(1), 0.18F);
}

TEST(ScaledWeights, MayBeZero) {
  Tensor weights = scaledWeights({2, 8}, 127, false, 1);
  for (int64_t i = 0; i < 8; ++i)
    weights.set<float>(i, 0);
  auto found = cpu::asScaledIntegers(weights);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->integers.toInteger(3), 0);
}

TEST(ScaledWeights, AreNotWhatLiesBeside) {
  const Tensor weights = scaledWeights({4, 64}, 127, false, 3);
  // Nearly a multiple, more than 255 of them, and no numbers.
  const float others[] = {weights.at<float>(70) * 1.00001F,
                          weights.at<float>(70) * 1000.5F,
                          std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::quiet_NaN()};
  ASSERT_NE(weights.at<float>(70), 0);
  for (float other : others) {
    Tensor changed(ElementType::F32, weights.shape());
    std::memcpy(changed.mutableBytes(), weights.data(), weights.bytes());
    changed.set<float>(70, other);
    EXPECT_FALSE(cpu::asScaledIntegers(changed)) << other;
  }
  EXPECT_FALSE(cpu::asScaledIntegers(scaledWeights({4, 64}, 5000, false, 3)));
  EXPECT_FALSE(cpu::asScaledIntegers(Tensor(ElementType::F32, {0, 4})));
}

std::string textOf(const Tensor &tensor) {
  return constantText(
      tensor, "tensor<" + toString(ElementType::F32, tensor.shape()) + ">");
}

struct ScaledLayer {
  int64_t inputs, outputs, groups, size, kernel, stride;
  /// Whether its weights are large, or few pixels are multiplied by them: where
  /// vectors have few registers, others are as well f32.
  bool isOfWeights = false;
};

/// A convolution with a bias and a relu.
std::string body(const ScaledLayer &of, const Tensor &weights) {
  auto type = [](std::initializer_list<int64_t> sizes) {
    return "tensor<" + toString(ElementType::F32, Shape(sizes)) + ">";
  };
  const int64_t padding = of.kernel / 2,
                places = (of.size + 2 * padding - of.kernel) / of.stride + 1;
  const std::string pad = "[" + std::to_string(padding) + ", " +
                          std::to_string(padding) + "]",
                    stride = std::to_string(of.stride),
                    from = type({2, of.inputs, of.size, of.size}),
                    to = type({2, of.outputs, places, places}),
                    vector = type({of.outputs});
  return "(%x: " + from + ", %b: " + vector + ") -> " + to +
         " {\n%w = " + textOf(weights) +
         "%c = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, "
         "0, 1]->[b, f, 0, 1], window = {stride = [" +
         stride + ", " + stride + "], pad = [" + pad + ", " + pad +
         "]} {batch_group_count = 1 : i64, feature_group_count = " +
         std::to_string(of.groups) + " : i64} : (" + from + ", " +
         type({of.outputs, of.inputs / of.groups, of.kernel, of.kernel}) +
         ") -> " + to + "\n%r = stablehlo.broadcast_in_dim %b, dims = [1] : (" +
         vector + ") -> " + to + "\n%s = stablehlo.add %c, %r : " + to +
         "\n%y = nn.relu %s : " + to + "\nreturn %y : " + to + "\n}";
}

TEST(ScaledWeights, AreConvolvedAsIntegers) {
  const ScaledLayer layers[] = {
      {128, 160, 1, 9, 1, 1},      // a matrix product
      {70, 100, 1, 13, 3, 2},      // channels that are no whole blocks
      {96, 192, 2, 7, 3, 2, true}, // groups
      {3, 128, 1, 23, 7, 2},       // the few channels of an image
      {512, 48, 1, 1, 1, 1, true}, // one place
  };
  std::vector<std::optional<cpu::Target>> targets = {std::nullopt};
  for (const cpu::Target &target : lesserTargets())
    targets.emplace_back(target);
  for (const auto &target : targets)
    for (const ScaledLayer &layer : layers) {
      const Tensor weights =
          scaledWeights({layer.outputs, layer.inputs / layer.groups,
                         layer.kernel, layer.kernel},
                        127, /*hasFactors=*/true, 5);
      const std::string text = body(layer, weights);
      EXPECT_EQ(differs(text, {2e-5, 2e-4}, nullptr, target), "")
          << layer.inputs;
      cpu::CpuOptions options;
      options.target = target;
      SimplifyReport report;
      options.onPrepared = [&](const SimplifyReport &done, mlir::ModuleOp) {
        report = done;
      };
      Result<Program> program = compileRaised(text, options);
      ASSERT_TRUE(program) << program.error().message();
      const int64_t registers = target ? target->vectorRegisters
                                       : cpu::Target::host()->vectorRegisters;
      EXPECT_EQ(report.patterns["scale-behind-sums"],
                registers >= 32 || layer.isOfWeights ? 1u : 0u)
          << layer.inputs;
    }
}

/// Bytes of the constants of a convolution by integers from \p least to \p
/// most.
size_t bytesOfConstants(const ScaledLayer &layer, int least, int most,
                        const cpu::Target &target) {
  const Tensor weights = scaledWeights(
      {layer.outputs, layer.inputs / layer.groups, layer.kernel, layer.kernel},
      least, most, /*hasFactors=*/false, 5);
  const std::string text = body(layer, weights);
  EXPECT_EQ(differs(text, {2e-5, 2e-4}, nullptr, target), "") << layer.inputs;
  cpu::CpuOptions options;
  options.target = target;
  Result<Program> program = compileRaised(text, options);
  EXPECT_TRUE(program) << program.error().message();
  size_t bytes = 0;
  for (const ConstantData &each : program->constants)
    bytes += each.bytes.size();
  return bytes;
}

/// Of four bits two lie in a byte, where channels come in eights.
TEST(ScaledWeights, StayInFourBits) {
  const cpu::Target host = hostWithoutMatrixUnits();
  if (host.vectorRegisters < 32 || host.f32Lanes % 8 != 0)
    GTEST_SKIP() << "weights are stored in few bits where tiles have many rows";
  const ScaledLayer layers[] = {{1024, 512, 1, 7, 1, 1},
                                {520, 500, 1, 7, 1, 1},
                                {256, 512, 1, 14, 3, 2},
                                {1024, 1024, 2, 5, 3, 2}};
  for (const ScaledLayer &layer : layers) {
    const size_t count = size_t(layer.outputs) * layer.inputs / layer.groups *
                         layer.kernel * layer.kernel;
    const size_t few = bytesOfConstants(layer, -8, 7, host),
                 more = bytesOfConstants(layer, -8, 8, host);
    EXPECT_LT(few, count * 6 / 10) << layer.inputs;
    EXPECT_GE(more, count) << layer.inputs;
  }
  // No word holds eight of these.
  EXPECT_GE(bytesOfConstants({1020, 512, 1, 7, 1, 1}, -8, 7, host),
            1020u * 512);
}

/// Blocks of four channels, of eight and of sixteen.
TEST(ScaledWeights, OfFourBitsOnEveryMachine) {
  for (const cpu::Target &target : lesserTargets())
    for (const ScaledLayer &layer : {ScaledLayer{512, 128, 1, 1, 1, 1},
                                     {128, 128, 1, 9, 3, 2},
                                     {96, 192, 2, 7, 3, 2}})
      bytesOfConstants(layer, -8, 7, target);
  // 64-bit Arm, whose programs do not run here, has registers for such tiles.
  const ScaledLayer layer = {1024, 512, 1, 7, 1, 1};
  cpu::CpuOptions options;
  options.target =
      *cpu::Target::named("aarch64-unknown-linux-gnu", "neoverse-n1", "");
  Result<Program> program = compileRaised(
      body(layer, scaledWeights({512, 1024, 1, 1}, -8, 7, false, 5)), options);
  ASSERT_TRUE(program) << program.error().message();
  size_t bytes = 0;
  for (const ConstantData &each : program->constants)
    bytes += each.bytes.size();
  EXPECT_LT(bytes, size_t(512 * 1024 * 6 / 10));
}

/// Signed bytes in all of their range; unsigned ones from a zero point that is
/// not in the middle take 16 bits.
TEST(ScaledWeights, StayInEightBitsOrSixteen) {
  const cpu::Target host = hostWithoutMatrixUnits();
  if (host.vectorRegisters < 32)
    GTEST_SKIP() << "weights are stored in few bits where tiles have many rows";
  const ScaledLayer layer = {1024, 500, 1, 7, 1, 1};
  const size_t count = size_t(layer.outputs) * layer.inputs;
  for (auto [least, most] : {std::pair{-128, 127}, {-127, 127}, {-100, 90}})
    EXPECT_LT(bytesOfConstants(layer, least, most, host), count * 11 / 10)
        << least;
  for (auto [least, most] : {std::pair{-128, 128}, {-200, 55}, {0, 255}}) {
    const size_t bytes = bytesOfConstants(layer, least, most, host);
    EXPECT_LT(bytes, count * 22 / 10) << least;
    EXPECT_GE(bytes, count * 2) << least;
  }
  EXPECT_GE(bytesOfConstants(layer, -256, 256, host), count * 4);
}

} // namespace
