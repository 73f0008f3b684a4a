#include "passes/DequantizedWeight.h"

#include "graph/Constants.h"
#include "graph/Types.h"
#include "graph/stablehlo/StablehloOps.h"
#include "passes/GraphHarness.h"
#include "passes/Matching.h"

#include <random>

using namespace sinter;
using namespace sinter::test;

namespace {

/// (\p type 2x3 - zero point) * scale, one of each a row.
struct Subject {
  Subject(const std::string &type, const std::string &integers,
          const std::string &zeros)
      : model(parseModel(
            "func.func @main() -> tensor<2x3xf32> {\n"
            "  %q = stablehlo.constant {sinter.name = \"q\"} dense<" +
            integers + "> : tensor<2x3x" + type +
            ">\n"
            "  %z = stablehlo.constant dense<" +
            zeros + "> : tensor<2x" + type +
            ">\n"
            "  %s = stablehlo.constant {sinter.name = \"s\"} dense<[0.5, 2.0]> "
            ": tensor<2xf32>\n"
            "  %a = stablehlo.convert %q : (tensor<2x3x" +
            type +
            ">) -> tensor<2x3xf32>\n"
            "  %b = stablehlo.convert %z : (tensor<2x" +
            type +
            ">) -> tensor<2xf32>\n"
            "  %c = stablehlo.broadcast_in_dim %b, dims = [0] : "
            "(tensor<2xf32>) -> tensor<2x3xf32>\n"
            "  %d = stablehlo.subtract %a, %c : tensor<2x3xf32>\n"
            "  %e = stablehlo.broadcast_in_dim %s, dims = [0] : "
            "(tensor<2xf32>) -> tensor<2x3xf32>\n"
            "  %w = stablehlo.multiply %d, %e : tensor<2x3xf32>\n"
            "  return %w : tensor<2x3xf32>\n"
            "}\n")),
        names(model.module()) {
    value = model.entry().front().getTerminator()->getOperand(0);
    weight = DequantizedWeight::find(value);
  }
  std::vector<double> numbers() const {
    const Tensor tensor = *constantValue(value);
    std::vector<double> list;
    for (int64_t i = 0; i < tensor.size(); ++i)
      list.push_back(tensor.toDouble(i));
    return list;
  }

  Model model;
  FoldedNames names;
  mlir::Value value;
  std::optional<DequantizedWeight> weight;
};

TEST(DequantizedWeight, IsTheSameTimesTheFactors) {
  std::mt19937 random(3);
  std::uniform_int_distribution<int> draw(-60, 60);
  for (int round = 0; round < 20; ++round) {
    std::string integers = "[";
    for (int row = 0; row < 2; ++row) {
      integers += row ? ", [" : "[";
      for (int i = 0; i < 3; ++i)
        integers += (i ? ", " : "") + std::to_string(draw(random));
      integers += "]";
    }
    Subject subject("i8", integers + "]",
                    "[" + std::to_string(draw(random) / 2) + ", " +
                        std::to_string(draw(random) / 2) + "]");
    ASSERT_TRUE(subject.weight);
    const std::vector<double> before = subject.numbers();
    const ChannelFactors factors{
        0, {draw(random) / 8.0 + 0.25, draw(random) / 8.0 - 0.25}};
    if (!subject.weight->takesUp(factors))
      continue;
    subject.weight->scale(factors, subject.names);
    const std::vector<double> after = subject.numbers();
    for (int i = 0; i < 6; ++i)
      EXPECT_EQ(after[i], before[i] * factors.factors[i / 3]) << i;
  }
}

TEST(DequantizedWeight, TurnsUnsignedIntegersRound) {
  Subject subject("ui8", "[[0, 7, 20], [100, 128, 255]]", "[10, 128]");
  ASSERT_TRUE(subject.weight);
  const ChannelFactors factors{0, {-2, 0.5}};
  ASSERT_TRUE(subject.weight->takesUp(factors));
  subject.weight->scale(factors, subject.names);
  EXPECT_EQ(subject.numbers(), (std::vector<double>{10, 3, -10, -28, 0, 127}));
}

TEST(DequantizedWeight, LeavesIntegersThatOthersRead) {
  Subject subject("i8", "[[1, 2, 3], [4, 5, 6]]", "[1, 0]");
  auto multiply = subject.value.getDefiningOp<stablehlo::MulOp>();
  mlir::OpBuilder builder(multiply);
  builder.setInsertionPointAfter(multiply);
  auto other =
      builder.create<stablehlo::NegOp>(multiply.getLoc(), multiply.getLhs());
  subject.weight = DequantizedWeight::find(subject.value);
  ASSERT_TRUE(subject.weight);
  const ChannelFactors positive{0, {2, 3}}, negative{0, {-2, 3}};
  EXPECT_TRUE(subject.weight->takesUp(positive));
  EXPECT_FALSE(subject.weight->takesUp(negative));
  other.erase();
  subject.weight = DequantizedWeight::find(subject.value);
  ASSERT_TRUE(subject.weight);
  EXPECT_TRUE(subject.weight->takesUp(negative));
}

TEST(DequantizedWeight, RefusesWhatDoesNotFit) {
  Subject least("i8", "[[-128, 0, 0], [1, 2, 3]]", "[0, 0]");
  ASSERT_TRUE(least.weight);
  EXPECT_FALSE(least.weight->takesUp({0, {-1, 1}}));
  EXPECT_FALSE(least.weight->takesUp({-1, {-1}}));
  EXPECT_TRUE(least.weight->takesUp({0, {1, -1}}));
  EXPECT_FALSE(least.weight->takesUp({1, {1, -1, 2}}));
  EXPECT_FALSE(least.weight->takesUp({0, {1e-60, 1}}));
  EXPECT_FALSE(least.weight->takesUp({0, {1e60, 1}}));
}

/// A channel that a factor takes away keeps its scale, since 0 is none.
TEST(DequantizedWeight, TakesAChannelAway) {
  Subject subject("i8", "[[1, 2, 3], [4, 5, 6]]", "[1, 0]");
  ASSERT_TRUE(subject.weight);
  const ChannelFactors factors{0, {0, 3}};
  ASSERT_TRUE(subject.weight->takesUp(factors));
  subject.weight->scale(factors, subject.names);
  EXPECT_EQ(subject.numbers(), (std::vector<double>{0, 0, 0, 24, 30, 36}));
}

} // namespace
