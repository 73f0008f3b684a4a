// A rescale that moves through an operation gives the same numbers.
//
// Covers: graph/interfaces Rescale

#include "graph/interfaces/Rescale.h"
#include "graph/Model.h"
#include "graph/Types.h"
#include "graph/interfaces/Axes.h"
#include "interpreter/Interpreter.h"
#include "mlir/Parser/Parser.h"
#include "runtime/Random.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;
using namespace sinter;

namespace {

Model parse(const std::string &body) {
  auto context = makeContext();
  auto module =
      parseSourceString<ModuleOp>("func.func @main" + body, context.get());
  EXPECT_TRUE(module) << body;
  return Model(context, std::move(module));
}

/// The operation that is tested: the last before the end.
Operation *tested(const Model &model) {
  return model.entry().front().getTerminator()->getPrevNode();
}

using Rescale = double (*)(double);

/// Rounds and cuts, as a stored number is; zero stays zero.
double stored(double x) { return std::clamp(std::round(0.37 * x), -3.0, 4.0); }
/// Likewise with another zero point.
double shifted(double x) {
  return std::clamp(std::round(0.37 * x + 2), -3.0, 4.0);
}
double scaled(double x) { return 0.375 * x; }

Tensor copyOf(const Tensor &tensor) {
  return Tensor::of<double>(tensor.type(), tensor.shape(),
                            tensor.values<double>());
}

Tensor apply(const Tensor &tensor, Rescale rescale) {
  Tensor result = copyOf(tensor);
  for (int64_t i = 0; i < result.size(); ++i)
    result.set<double>(i, rescale(result.toDouble(i)));
  return result;
}

/// Whole numbers of both signs.
std::vector<Tensor> inputsOf(const Model &model) {
  std::vector<Tensor> inputs;
  for (Type type : model.entry().getArgumentTypes()) {
    Tensor tensor(ElementType::F64,
                  Shape(cast<RankedTensorType>(type).getShape()));
    fillRandom(tensor, inputs.size() + 3, {-16, 16, 16});
    for (int64_t i = 0; i < tensor.size(); ++i)
      tensor.set<double>(i, std::round(tensor.toDouble(i)));
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

void expectSame(const Tensor &a, const Tensor &b) {
  ASSERT_EQ(a.shape(), b.shape());
  for (int64_t i = 0; i < a.size(); ++i)
    ASSERT_DOUBLE_EQ(a.toDouble(i), b.toDouble(i)) << i;
}

/// op(rescale(operands)) == rescale(op(operands)) for every way.
void checkWays(const Model &model, RescaleOpInterface op) {
  std::vector<Tensor> inputs = inputsOf(model);
  auto plain = interpret(model.entry(), inputs);
  ASSERT_TRUE(plain) << plain.error().message();
  auto ways = op.getRescaleWays();
  ASSERT_FALSE(ways.empty());
  for (const RescaleWay &way : ways) {
    SmallVector<Rescale> rescales = {scaled};
    if (way.ranges != RescaleRanges::CutsNothing)
      rescales.push_back(stored);
    if (way.ranges == RescaleRanges::Any)
      rescales.push_back(shifted);
    for (Rescale rescale : rescales) {
      std::vector<Tensor> moved = inputs;
      for (unsigned operand : way.operands)
        if (auto argument = dyn_cast<BlockArgument>(op->getOperand(operand)))
          moved[argument.getArgNumber()] =
              apply(inputs[argument.getArgNumber()], rescale);
      auto got = interpret(model.entry(), moved);
      ASSERT_TRUE(got) << got.error().message();
      expectSame((*got)[0], apply((*plain)[0], rescale));
    }
  }
}

/// Factors that differ along a dimension that is kept come out along it.
void checkDimensions(const Model &model, RescaleOpInterface op) {
  std::vector<Tensor> inputs = inputsOf(model);
  auto plain = interpret(model.entry(), inputs);
  auto strideOf = [](const Tensor &tensor, int64_t dimension) {
    int64_t stride = 1;
    for (int64_t i = dimension + 1; i < tensor.rank(); ++i)
      stride *= tensor.dim(i);
    return stride;
  };
  auto along = [&](const Tensor &tensor, int64_t dimension) {
    Tensor result = copyOf(tensor);
    const int64_t stride = strideOf(tensor, dimension);
    for (int64_t i = 0; i < result.size(); ++i)
      result.set<double>(i, result.toDouble(i) *
                                (1 + i / stride % tensor.dim(dimension)));
    return result;
  };
  for (const RescaleWay &way : op.getRescaleWays()) {
    auto first =
        cast<RankedTensorType>(op->getOperand(way.operands.front()).getType());
    for (int64_t dimension = 0; dimension < first.getRank(); ++dimension) {
      std::vector<Tensor> moved = inputs;
      std::optional<int64_t> place;
      bool passes = true;
      for (unsigned operand : way.operands) {
        auto argument = dyn_cast<BlockArgument>(op->getOperand(operand));
        auto type = cast<RankedTensorType>(op->getOperand(operand).getType());
        if (!argument || dimension >= type.getRank()) {
          passes = false;
          break;
        }
        auto there = axesOf(op)->resultOf(operand, dimension);
        passes &= there && (!place || place == there);
        place = there;
        if (passes)
          moved[argument.getArgNumber()] =
              along(inputs[argument.getArgNumber()], dimension);
      }
      if (!passes)
        continue;
      auto got = interpret(model.entry(), moved);
      ASSERT_TRUE(got);
      expectSame((*got)[0], along((*plain)[0], *place));
    }
  }
}

void check(const std::string &body) {
  SCOPED_TRACE(body);
  Model model = parse(body);
  ASSERT_TRUE(model.module());
  auto op = dyn_cast<RescaleOpInterface>(tested(model));
  ASSERT_TRUE(op);
  checkWays(model, op);
  checkDimensions(model, op);
}

std::string reductionText(const std::string &op) {
  return "(%x: tensor<3x4x2xf64>, %i: tensor<f64>) -> tensor<4xf64> { %y = "
         "stablehlo.reduce(%x init: %i) applies stablehlo." +
         op +
         " across dimensions = [0, 2] : (tensor<3x4x2xf64>, tensor<f64>) -> "
         "tensor<4xf64>\n return %y : tensor<4xf64> }";
}

} // namespace

TEST(Rescale, Elementwise) {
  for (const char *op : {"maximum", "minimum", "add", "subtract", "multiply"})
    check(std::string("(%x: tensor<4x6xf64>, %z: tensor<4x6xf64>) -> "
                      "tensor<4x6xf64> { %y = stablehlo.") +
          op + " %x, %z : tensor<4x6xf64>\n return %y : tensor<4x6xf64> }");
  check("(%x: tensor<4x6xf64>) -> tensor<4x6xf64> { %y = nn.relu %x : "
        "tensor<4x6xf64>\n return %y : tensor<4x6xf64> }");
  check("(%l: tensor<f64>, %x: tensor<4x6xf64>, %h: tensor<4x6xf64>) -> "
        "tensor<4x6xf64> { %y = stablehlo.clamp %l, %x, %h : (tensor<f64>, "
        "tensor<4x6xf64>, tensor<4x6xf64>) -> tensor<4x6xf64>\n return %y : "
        "tensor<4x6xf64> }");
}

TEST(Rescale, Movements) {
  check(R"((%x: tensor<2x3x4xf64>) -> tensor<4x2x3xf64> {
    %y = stablehlo.transpose %x, dims = [2, 0, 1] : (tensor<2x3x4xf64>) -> tensor<4x2x3xf64>
    return %y : tensor<4x2x3xf64> })");
  check(R"((%x: tensor<2x3x4xf64>) -> tensor<2x12x1xf64> {
    %y = stablehlo.reshape %x : (tensor<2x3x4xf64>) -> tensor<2x12x1xf64>
    return %y : tensor<2x12x1xf64> })");
  check(R"((%x: tensor<3x1xf64>) -> tensor<2x4x3xf64> {
    %y = stablehlo.broadcast_in_dim %x, dims = [2, 1] : (tensor<3x1xf64>) -> tensor<2x4x3xf64>
    return %y : tensor<2x4x3xf64> })");
  check(R"((%x: tensor<7x5xf64>) -> tensor<3x5xf64> {
    %y = stablehlo.slice %x [1:7:2, 0:5] : (tensor<7x5xf64>) -> tensor<3x5xf64>
    return %y : tensor<3x5xf64> })");
  check(R"((%x: tensor<4x3xf64>, %v: tensor<f64>) -> tensor<9x3xf64> {
    %y = stablehlo.pad %x, %v, low = [2, 0], high = [0, 0], interior = [1, 0]
        : (tensor<4x3xf64>, tensor<f64>) -> tensor<9x3xf64>
    return %y : tensor<9x3xf64> })");
  check(R"((%x: tensor<2x3xf64>, %z: tensor<2x1xf64>) -> tensor<2x4xf64> {
    %y = stablehlo.concatenate %x, %z, dim = 1 : (tensor<2x3xf64>, tensor<2x1xf64>) -> tensor<2x4xf64>
    return %y : tensor<2x4xf64> })");
  check(R"((%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
    %y = stablehlo.reverse %x, dims = [1] : tensor<2x3xf64>
    return %y : tensor<2x3xf64> })");
}

TEST(Rescale, Choices) {
  // Neither predicate nor indices are rescaled.
  check(R"((%x: tensor<4xf64>, %z: tensor<4xf64>) -> tensor<4xf64> {
    %p = stablehlo.constant dense<[true, false, false, true]> : tensor<4xi1>
    %y = stablehlo.select %p, %x, %z : tensor<4xi1>, tensor<4xf64>
    return %y : tensor<4xf64> })");
  check(R"((%x: tensor<5x3xf64>) -> tensor<2x3xf64> {
    %i = stablehlo.constant dense<[[3], [1]]> : tensor<2x1xi32>
    %y = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1],
        collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
        slice_sizes = array<i64: 1, 3>}> : (tensor<5x3xf64>, tensor<2x1xi32>) -> tensor<2x3xf64>
    return %y : tensor<2x3xf64> })");
  check(R"((%x: tensor<5x3xf64>) -> tensor<2x2xf64> {
    %i = stablehlo.constant dense<2> : tensor<i32>
    %j = stablehlo.constant dense<9> : tensor<i32>
    %y = stablehlo.dynamic_slice %x, %i, %j, sizes = [2, 2] : (tensor<5x3xf64>, tensor<i32>, tensor<i32>) -> tensor<2x2xf64>
    return %y : tensor<2x2xf64> })");
  check(R"((%x: tensor<5x3xf64>, %u: tensor<2x2xf64>) -> tensor<5x3xf64> {
    %i = stablehlo.constant dense<1> : tensor<i32>
    %y = stablehlo.dynamic_update_slice %x, %u, %i, %i : (tensor<5x3xf64>, tensor<2x2xf64>, tensor<i32>, tensor<i32>) -> tensor<5x3xf64>
    return %y : tensor<5x3xf64> })");
}

TEST(Rescale, Scatters) {
  auto scatter = [](const std::string &body) {
    return R"((%x: tensor<5x3xf64>, %u: tensor<2x3xf64>) -> tensor<5x3xf64> {
    %i = stablehlo.constant dense<[[3], [1]]> : tensor<2x1xi32>
    %y = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
        inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      )" + body +
           R"(
      stablehlo.return %c : tensor<f64>
    }) : (tensor<5x3xf64>, tensor<2x1xi32>, tensor<2x3xf64>) -> tensor<5x3xf64>
    return %y : tensor<5x3xf64> })";
  };
  check(scatter("%c = stablehlo.add %a, %b : tensor<f64>"));
  std::string replaced = scatter("");
  replaced.replace(replaced.find("return %c"), 9, "return %b");
  check(replaced);
  // A product has no way through.
  Model model = parse(scatter("%c = stablehlo.multiply %a, %b : tensor<f64>"));
  EXPECT_TRUE(cast<RescaleOpInterface>(tested(model)).getRescaleWays().empty());
}

TEST(Rescale, Windows) {
  for (const char *op : {"add", "maximum", "minimum"})
    check(std::string(
              R"((%x: tensor<3x6x2xf64>, %i: tensor<f64>) -> tensor<3x4x2xf64> {
    %y = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 1, 3, 1>,
        window_strides = array<i64: 1, 2, 1>, padding = dense<[[0, 0], [1, 2], [0, 0]]> : tensor<3x2xi64>}> ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %c = stablehlo.)") +
          op + R"( %a, %b : tensor<f64>
      stablehlo.return %c : tensor<f64>
    }) : (tensor<3x6x2xf64>, tensor<f64>) -> tensor<3x4x2xf64>
    return %y : tensor<3x4x2xf64> })");
  check(R"((%x: tensor<1x2x6x6xf64>) -> tensor<1x2x3x3xf64> {
    %y = nn.average_pool %x, window = [2, 2] strides = [2, 2] {dilations = array<i64: 1, 1>,
        padding_low = array<i64: 0, 0>, padding_high = array<i64: 0, 0>, count_padding = false}
        : (tensor<1x2x6x6xf64>) -> tensor<1x2x3x3xf64>
    return %y : tensor<1x2x3x3xf64> })");
}

TEST(Rescale, Products) {
  check(
      R"((%a: tensor<4x2x3x5xf64>, %b: tensor<5x6x4x2xf64>) -> tensor<2x3x6xf64> {
    %y = stablehlo.dot_general %a, %b, batching_dims = [1] x [3], contracting_dims = [0, 3] x [2, 0]
        : (tensor<4x2x3x5xf64>, tensor<5x6x4x2xf64>) -> tensor<2x3x6xf64>
    return %y : tensor<2x3x6xf64> })");
  check(
      R"((%x: tensor<2x4x5x4xf64>, %k: tensor<6x2x3x2xf64>) -> tensor<2x6x3x5xf64> {
    %y = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
        window = {stride = [2, 1], pad = [[1, 1], [0, 2]]}
        {batch_group_count = 1 : i64, feature_group_count = 2 : i64}
        : (tensor<2x4x5x4xf64>, tensor<6x2x3x2xf64>) -> tensor<2x6x3x5xf64>
    return %y : tensor<2x6x3x5xf64> })");
}

TEST(Rescale, Reductions) {
  for (const char *op : {"add", "maximum", "minimum"})
    check(reductionText(op));
  Model model = parse(reductionText("multiply"));
  EXPECT_TRUE(cast<RescaleOpInterface>(tested(model)).getRescaleWays().empty());
  check(R"((%x: tensor<1x2x6x6xf64>) -> tensor<1x2x3x3xf64> {
    %y = nn.max_pool %x, window = [2, 2] strides = [2, 2] {dilations = array<i64: 1, 1>,
        padding_low = array<i64: 0, 0>, padding_high = array<i64: 0, 0>}
        : (tensor<1x2x6x6xf64>) -> tensor<1x2x3x3xf64>
    return %y : tensor<1x2x3x3xf64> })");
}

TEST(Rescale, WhatAbsorbs) {
  auto absorbs = [](const std::string &body) {
    Model model = parse(body);
    auto op = cast<RescaleOpInterface>(tested(model));
    return std::pair(op.absorbsRescaleOfOperand(0),
                     op.absorbsRescaleOfResult());
  };
  EXPECT_EQ(absorbs("(%x: tensor<4xf64>) -> tensor<4xf64> { %y = "
                    "stablehlo.add %x, %x : tensor<4xf64>\n return %y : "
                    "tensor<4xf64> }"),
            std::pair(true, true));
  // Functions of one operand and pools, too: they have no way through or one.
  for (const char *op : {"relu %x", "gelu %x {approximate = false}",
                         "leaky_relu %x {alpha = 0.1}", "silu %x"})
    EXPECT_EQ(absorbs(std::string("(%x: tensor<4xf64>) -> tensor<4xf64> { %y "
                                  "= nn.") +
                      op + " : tensor<4xf64>\n return %y : tensor<4xf64> }"),
              std::pair(true, true))
        << op;
  EXPECT_EQ(absorbs(R"((%x: tensor<1x2x6x6xf64>) -> tensor<1x2x3x3xf64> {
    %y = nn.max_pool %x, window = [2, 2] strides = [2, 2] {dilations = array<i64: 1, 1>,
        padding_low = array<i64: 0, 0>, padding_high = array<i64: 0, 0>}
        : (tensor<1x2x6x6xf64>) -> tensor<1x2x3x3xf64>
    return %y : tensor<1x2x3x3xf64> })"),
            std::pair(true, true));
  // The result's type is the operand's.
  EXPECT_EQ(absorbs("(%x: tensor<4xf64>) -> tensor<2x2xf64> { %y = "
                    "stablehlo.reshape %x : (tensor<4xf64>) -> "
                    "tensor<2x2xf64>\n return %y : tensor<2x2xf64> }"),
            std::pair(false, false));
}
