// Which units small graphs have.

#include "quantize/Units.h"

#include "mlir/IR/Verifier.h"
#include "quantize/QuantizeGraph.h"
#include "quantize/WeightChannels.h"

namespace sinter::quantize {
namespace {

using test::QuantizeGraph;

TEST(Units, AConvolutionWithBiasAndRectifierIsOne) {
  for (const char *batch : {"1", "?"}) {
    const bool isKnown = batch[0] == '1';
    QuantizeGraph graph(test::fill(
        R"(func.func @main(%x: tensor<$Nx2x5x5xf32>) -> tensor<$Nx3x5x5xf32> {
  %w = stablehlo.constant dense<0.5> : tensor<3x2x3x3xf32>
  %b = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %c = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<$Nx2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<$Nx3x5x5xf32>
  $bias
  %s = stablehlo.add %c, %r : tensor<$Nx3x5x5xf32>
  %y = nn.relu %s : tensor<$Nx3x5x5xf32>
  return %y : tensor<$Nx3x5x5xf32>
})",
        {{"N", batch},
         {"bias",
          isKnown ? "%r = stablehlo.broadcast_in_dim %b, dims = [1] : "
                    "(tensor<3xf32>) -> tensor<1x3x5x5xf32>"
                  : "%n = stablehlo.get_dimension_size %c, dim = 0 : "
                    "(tensor<?x3x5x5xf32>) -> tensor<i32>\n"
                    "%n1 = stablehlo.reshape %n : (tensor<i32>) -> "
                    "tensor<1xi32>\n"
                    "%rest = stablehlo.constant dense<[3, 5, 5]> : "
                    "tensor<3xi32>\n"
                    "%sizes = stablehlo.concatenate %n1, %rest, dim = 0 : "
                    "(tensor<1xi32>, tensor<3xi32>) -> tensor<4xi32>\n"
                    "%r = stablehlo.dynamic_broadcast_in_dim %b, %sizes, dims "
                    "= [1] : (tensor<3xf32>, tensor<4xi32>) -> "
                    "tensor<?x3x5x5xf32>"}}));
    const Unit &unit = graph.at("convolution");
    EXPECT_EQ(unit.kind, UnitKind::Product) << textOf(unit.why);
    EXPECT_TRUE(unit.bias);
    ASSERT_EQ(unit.data.size(), 1u);
    EXPECT_EQ(unit.data[0]->get(), graph.model.entry().getArgument(0));
    EXPECT_EQ(unit.weights.channelAxis, 0);
    EXPECT_EQ(unit.weights.depthAxis, 1);
    EXPECT_EQ(unit.weights.activationAxis, 1);
    EXPECT_EQ(unit.result.getDefiningOp()->getName().getStringRef(), "nn.relu");
    EXPECT_EQ(graph.units.units.size(), 1u) << batch;
  }
}

TEST(Units, AMatrixProductWithABias) {
  QuantizeGraph graph(R"(
func.func @main(%x: tensor<2x4xf32>) -> tensor<2x3xf32> {
  %w = stablehlo.constant dense<0.5> : tensor<4x3xf32>
  %b = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %r = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  %y = stablehlo.add %p, %r : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
})");
  const Unit &unit = graph.at("dot_general");
  EXPECT_EQ(unit.kind, UnitKind::Product) << textOf(unit.why);
  EXPECT_TRUE(unit.bias);
  EXPECT_EQ(unit.weights.channelAxis, 1);
  EXPECT_EQ(unit.weights.depthAxis, 0);
  EXPECT_EQ(unit.weights.activationAxis, 1);
  EXPECT_EQ(graph.units.units.size(), 1u);
}

/// The kernel of a transposed convolution in groups is the file's constant,
/// whose second dimension has the outputs of one group; what is rearranged in
/// another way is computed.
TEST(Units, AKernelWhoseGroupsAreBroughtToTheOutputs) {
  for (const char *order : {"[1, 0, 2, 3]", "[1, 0, 3, 2]"}) {
    QuantizeGraph graph(test::fill(
        R"(func.func @main(%x: tensor<5x4x5xf32>) -> tensor<5x6x7xf32> {
  %w = stablehlo.constant dense<0.5> : tensor<4x3x3xf32>
  %s = stablehlo.reshape %w : (tensor<4x3x3xf32>) -> tensor<2x2x3x3xf32>
  %t = stablehlo.transpose %s, dims = $order : (tensor<2x2x3x3xf32>) -> tensor<2x2x3x3xf32>
  %k = stablehlo.reshape %t : (tensor<2x2x3x3xf32>) -> tensor<2x6x3xf32>
  %c = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0]x[i, o, 0]->[b, f, 0], window = {pad = [[2, 2]], reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<5x4x5xf32>, tensor<2x6x3xf32>) -> tensor<5x6x7xf32>
  return %c : tensor<5x6x7xf32>
})",
        {{"order", order}}));
    const Unit &unit = graph.at("convolution");
    if (llvm::StringRef(order) != "[1, 0, 2, 3]") {
      EXPECT_EQ(unit.kind, UnitKind::Other);
      EXPECT_EQ(unit.why, FloatReason::ComputedWeights);
      continue;
    }
    EXPECT_EQ(unit.kind, UnitKind::Product) << textOf(unit.why);
    ASSERT_TRUE(unit.weights.operand);
    EXPECT_EQ(unit.weights.side, 1u);
    EXPECT_EQ(unit.weights.depthGroups, 2);
    EXPECT_EQ(unit.weights.channelAxis, 1);
    EXPECT_EQ(unit.weights.depthAxis, 0);
    Tensor weights(ElementType::F32, {4, 3, 3});
    const auto channels = WeightChannels::of(unit.weights, weights, 4);
    ASSERT_TRUE(channels);
    EXPECT_EQ(channels->outputs(), 6);
    EXPECT_FALSE(channels->isDepthwise());
    for (int64_t i = 0; i < weights.size(); ++i) {
      EXPECT_EQ(channels->inputOf(i), i / 9);
      EXPECT_EQ(channels->outputOf(i), i / 18 * 3 + i / 3 % 3);
    }
  }
}

TEST(Units, AnAdditionOfActivationsIsItsOwn) {
  QuantizeGraph graph(R"(
func.func @main(%x: tensor<2x4xf32>, %z: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %w = stablehlo.constant dense<0.5> : tensor<4x3xf32>
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  %y = stablehlo.add %p, %z : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
})");
  EXPECT_EQ(graph.kind("dot_general"), UnitKind::Product);
  EXPECT_FALSE(graph.at("dot_general").bias);
  EXPECT_EQ(graph.kind("add"), UnitKind::Computes);
  EXPECT_EQ(graph.at("add").data.size(), 2u);
}

// A product that others read before its bias is added ends there.
TEST(Units, AProductWithOtherReadersEndsThere) {
  QuantizeGraph graph(R"(
func.func @main(%x: tensor<2x4xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %w = stablehlo.constant dense<0.5> : tensor<4x3xf32>
  %b = stablehlo.constant dense<[[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]> : tensor<2x3xf32>
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  %y = nn.relu %p : tensor<2x3xf32>
  return %p, %y : tensor<2x3xf32>, tensor<2x3xf32>
})");
  EXPECT_EQ(graph.units.units.size(), 2u);
  EXPECT_EQ(graph.kind("dot_general"), UnitKind::Product);
  EXPECT_EQ(graph.kind("relu"), UnitKind::Computes);
}

TEST(Units, AProductOfTwoActivationsStaysFloat) {
  QuantizeGraph graph(R"(
func.func @main(%x: tensor<2x4xf32>, %w: tensor<4x3xf32>) -> tensor<2x3xf32> {
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  return %p : tensor<2x3xf32>
})");
  EXPECT_EQ(graph.kind("dot_general"), UnitKind::Other);
  EXPECT_EQ(graph.at("dot_general").why, FloatReason::TwoActivations);
}

TEST(Units, WhatMovesAndWhatComputes) {
  QuantizeGraph graph(R"(
func.func @main(%x: tensor<2x4xf32>, %z: tensor<2x4xf32>) -> (tensor<4x4xf32>, tensor<8xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
  %c = stablehlo.concatenate %x, %z, dim = 0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %r = stablehlo.reshape %x : (tensor<2x4xf32>) -> tensor<8xf32>
  %m = stablehlo.multiply %x, %z : tensor<2x4xf32>
  %l = stablehlo.logistic %x : tensor<2x4xf32>
  return %c, %r, %m, %l : tensor<4x4xf32>, tensor<8xf32>, tensor<2x4xf32>, tensor<2x4xf32>
})");
  EXPECT_EQ(graph.kind("concatenate"), UnitKind::Moves);
  EXPECT_EQ(graph.kind("reshape"), UnitKind::Moves);
  EXPECT_EQ(graph.kind("multiply"), UnitKind::Computes);
}

TEST(Units, OtherTypes) {
  for (const char *type : {"f16", "bf16", "f64", "i32"}) {
    QuantizeGraph graph(test::fill(
        R"(func.func @main(%x: tensor<2x4x$T>) -> tensor<2x3x$T> {
  %w = stablehlo.constant dense<$one> : tensor<4x3x$T>
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x4x$T>, tensor<4x3x$T>) -> tensor<2x3x$T>
  return %p : tensor<2x3x$T>
})",
        {{"T", type}, {"one", std::string(type) == "i32" ? "1" : "0.5"}}));
    const bool isNarrow = std::string(type).find("16") != std::string::npos;
    EXPECT_EQ(graph.kind("dot_general"),
              isNarrow ? UnitKind::Product : UnitKind::Other)
        << type;
    EXPECT_EQ(graph.at("dot_general").why == FloatReason::None, isNarrow);
  }
}

TEST(Units, BranchesAndLoops) {
  QuantizeGraph graph(R"(
func.func @main(%x: tensor<2x3xf32>, %take: tensor<i1>) -> tensor<2x3xf32> {
  %w = stablehlo.constant dense<0.5> : tensor<3x3xf32>
  %y = "stablehlo.if"(%take) ({
    %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
    stablehlo.return %p : tensor<2x3xf32>
  }, {
    stablehlo.return %x : tensor<2x3xf32>
  }) : (tensor<i1>) -> tensor<2x3xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %n, %a = stablehlo.while(%i = %zero, %v = %y) : tensor<i32>, tensor<2x3xf32>
  cond {
    %c = stablehlo.compare LT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %q = stablehlo.dot_general %v, %w, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
    stablehlo.return %i, %q : tensor<i32>, tensor<2x3xf32>
  }
  return %a : tensor<2x3xf32>
})");
  EXPECT_EQ(graph.kind("dot_general", 0), UnitKind::Product);
  EXPECT_EQ(graph.kind("dot_general", 1), UnitKind::Product);
  EXPECT_EQ(graph.kind("if"), UnitKind::Other);
  EXPECT_EQ(graph.kind("while"), UnitKind::Other);
}

// Who reads comes after who gives, wherever its constants are repeated.
TEST(Units, AreInTheOrderInWhichTheyCompute) {
  QuantizeGraph graph(R"(
func.func @main(%x: tensor<2x4xf32>) -> tensor<2x3xf32> {
  %w = stablehlo.constant dense<0.5> : tensor<4x3xf32>
  %g = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %r = stablehlo.broadcast_in_dim %g, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  %y = stablehlo.multiply %p, %r : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
})");
  ASSERT_EQ(graph.units.units.size(), 2u);
  EXPECT_EQ(graph.unit("dot_general"), 0);
  EXPECT_EQ(graph.unit("multiply"), 1);
}

} // namespace
} // namespace sinter::quantize
