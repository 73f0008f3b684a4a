// Norms in front of and behind means over sizes that are not known.

#include "passes/MeanForm.h"

#include "passes/GraphHarness.h"
#include "passes/Pipelines.h"

using namespace sinter;
using namespace sinter::test;

namespace {

struct MeanCase {
  /// Whether the norm stands in front of the mean, and a matmul behind, or
  /// behind the mean, and a convolution in front.
  bool isInFront;
  /// Whether the sum has places of one element before it is divided.
  bool keeps;
  /// Which dimensions the sum is divided by the sizes of.
  int first = 2, second = 3;
};

std::string meanText(const MeanCase &test) {
  std::string text =
      R"(func.func @main(%x: tensor<?x2x?x?xf64>) -> tensor<?xRESULT> {
  %s = stablehlo.constant dense<[2.0, -0.5]> : tensor<2xf64>
  %t = stablehlo.constant dense<[1.0, -3.0]> : tensor<2xf64>
  %m = stablehlo.constant dense<[0.5, 2.0]> : tensor<2xf64>
  %v = stablehlo.constant dense<[4.0, 0.25]> : tensor<2xf64>
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
)";
  const std::string
      image = "tensor<?x2x?x?xf64>",
      vector = "tensor<?x2xf64>",
      norm = R"( = "stablehlo.batch_norm_inference"(%FROM, %s, %t, %m, %v)
      {epsilon = 0.0 : f32, feature_index = 1 : i64} : (TYPE, tensor<2xf64>,
      tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) -> TYPE
)";
  auto withNorm = [&](const std::string &name, const std::string &from,
                      const std::string &type) {
    std::string line = norm;
    line.replace(line.find("FROM"), 4, from);
    for (size_t at; (at = line.find("TYPE")) != std::string::npos;)
      line.replace(at, 4, type);
    text += "  %" + name + line;
  };
  if (test.isInFront) {
    text += "  %r = nn.relu %x : " + image + "\n";
    withNorm("a", "r", image);
  } else {
    text +=
        R"(  %w = stablehlo.constant dense<[[[[0.5]], [[1.0]]], [[[-2.0]], [[0.25]]]]> : tensor<2x2x1x1xf64>
  %a = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<?x2x?x?xf64>, tensor<2x2x1x1xf64>) -> tensor<?x2x?x?xf64>
)";
  }
  text +=
      R"(  %sum = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [2, 3] : (tensor<?x2x?x?xf64>, tensor<f64>) -> tensor<?x2xf64>
)";
  std::string sum = "sum", type = vector;
  if (test.keeps) {
    sum = "kept";
    type = "tensor<?x2x1x1xf64>";
    text +=
        R"(  %batch = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?x2x?x?xf64>) -> tensor<i32>
  %b1 = stablehlo.reshape %batch : (tensor<i32>) -> tensor<1xi32>
  %rest = stablehlo.constant dense<[2, 1, 1]> : tensor<3xi32>
  %shape = stablehlo.concatenate %b1, %rest, dim = 0 : (tensor<1xi32>, tensor<3xi32>) -> tensor<4xi32>
  %kept = stablehlo.dynamic_reshape %sum, %shape : (tensor<?x2xf64>, tensor<4xi32>) -> tensor<?x2x1x1xf64>
)";
  }
  for (auto [name, dimension] :
       {std::pair("h", test.first), {"w", test.second}})
    text += std::string("  %") + name +
            " = stablehlo.get_dimension_size %a, dim = " +
            std::to_string(dimension) + " : (" + image + ") -> tensor<i32>\n";
  text += "  %hw = stablehlo.multiply %h, %w_ : tensor<i32>\n"
          "  %count = stablehlo.convert %hw : (tensor<i32>) -> tensor<f64>\n"
          "  %counts = nn.broadcast_like %count, %" +
          sum + " : (tensor<f64>, " + type + ") -> " + type +
          "\n  %mean = stablehlo.divide %" + sum + ", %counts : " + type + "\n";
  // `w` may be the weight.
  text.replace(text.find("%w_"), 3, "%ww");
  text.replace(text.find("  %w = stablehlo.get_dimension_size"), 4, "  %ww");
  std::string result = type.substr(9);
  if (test.isInFront) {
    std::string from = "mean";
    if (test.keeps) {
      text +=
          R"(  %flatShape = stablehlo.concatenate %b1, %two, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %flat = stablehlo.dynamic_reshape %mean, %flatShape : (tensor<?x2x1x1xf64>, tensor<2xi32>) -> tensor<?x2xf64>
)";
      text.insert(text.find("  %zero"),
                  "  %two = stablehlo.constant dense<2> : tensor<1xi32>\n");
      from = "flat";
    }
    text += "  %k = stablehlo.constant dense<[[1.0, 2.0, -0.5], [0.25, 4.0, "
            "1.0]]> : tensor<2x3xf64>\n  %y = stablehlo.dot_general %" +
            from +
            ", %k, contracting_dims = [1] x [0] : (tensor<?x2xf64>, "
            "tensor<2x3xf64>) -> tensor<?x3xf64>\n";
    result = "3xf64>";
  } else {
    withNorm("y", "mean", type);
  }
  text += "  return %y : tensor<?x" + result + "\n}";
  text.replace(text.find("tensor<?xRESULT>"), 16, "tensor<?x" + result);
  return text;
}

/// Simplified, with the same bits for sizes whose product is a power of two.
Model simplifiedMean(const MeanCase &test) {
  Model model = parseModel(meanText(test));
  Model simplified = model.clone();
  EXPECT_TRUE(simplify(simplified));
  for (const Shape &shape : {Shape{1, 2, 2, 4}, Shape{3, 2, 8, 1}}) {
    Tensor x(ElementType::F64, shape);
    for (int64_t i = 0; i < x.size(); ++i)
      x.set<double>(i, static_cast<double>(i * 7 % 33 - 16) / 8);
    const auto before = interpret(model.entry(), {x}),
               after = interpret(simplified.entry(), {x});
    EXPECT_TRUE(before && after);
    for (int64_t i = 0; before && after && i < (*before)[0].size(); ++i)
      EXPECT_EQ((*before)[0].toDouble(i), (*after)[0].toDouble(i));
  }
  return simplified;
}

TEST(MeanForm, ScalesAndShiftsPass) {
  for (bool isInFront : {false, true})
    for (bool keeps : {false, true}) {
      const MeanCase test{isInFront, keeps};
      SCOPED_TRACE(meanText(test));
      const Model model = simplifiedMean(test);
      EXPECT_EQ(countOps(model, "stablehlo.batch_norm_inference"), 0);
      // The bias alone.
      for (stablehlo::AddOp op : model.entry().getOps<stablehlo::AddOp>())
        EXPECT_TRUE(
            isa<ChannelwiseAffineOpInterface>(op.getLhs().getDefiningOp()))
            << textOf(model);
    }
}

/// What is divided by other sizes is no mean: its shift stays.
TEST(MeanForm, OtherDivisorsAreNone) {
  for (auto [first, second] : {std::pair(2, 2), {0, 3}}) {
    const MeanCase test{true, false, first, second};
    SCOPED_TRACE(meanText(test));
    Model model = parseModel(meanText(test));
    ASSERT_TRUE(simplify(model));
    bool shifts = false;
    for (stablehlo::AddOp op : model.entry().getOps<stablehlo::AddOp>())
      shifts |= !op.getLhs().getDefiningOp<stablehlo::DotGeneralOp>();
    EXPECT_TRUE(shifts) << textOf(model);
  }
}

} // namespace
