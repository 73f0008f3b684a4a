//===- DataMovementTest.cpp -----------------------------------------------===//
//
// Covers: interpreter Gather

#include "interpreter/Evaluate.h"
#include "interpreter/Strided.h"

using namespace sinter;
using Doubles = std::vector<double>;

static const char *twoByThree =
    "%x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>\n";

static Doubles runOnTwoByThree(const std::string &line,
                               const std::string &type) {
  Evaluated result = evaluateBody(twoByThree + line, type);
  EXPECT_EQ(result.error, "");
  return result.doubles();
}

TEST(DataMovement, TransposeReverseSlice) {
  EXPECT_EQ(runOnTwoByThree("%r = stablehlo.transpose %x, dims = [1, 0] : "
                            "(tensor<2x3xi32>) -> tensor<3x2xi32>",
                            "tensor<3x2xi32>"),
            (Doubles{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(
      runOnTwoByThree("%r = stablehlo.reverse %x, dims = [1] : tensor<2x3xi32>",
                      "tensor<2x3xi32>"),
      (Doubles{3, 2, 1, 6, 5, 4}));
  EXPECT_EQ(runOnTwoByThree(
                "%r = stablehlo.slice %x [1:2, 0:3:2] : (tensor<2x3xi32>) -> "
                "tensor<1x2xi32>",
                "tensor<1x2xi32>"),
            (Doubles{4, 6}));
}

TEST(DataMovement, PadNegativeAndInterior) {
  EXPECT_EQ(runOnTwoByThree(R"(%v = stablehlo.constant dense<9> : tensor<i32>
    %r = stablehlo.pad %x, %v, low = [0, -1], high = [1, 1], interior = [0, 1]
      : (tensor<2x3xi32>, tensor<i32>) -> tensor<3x5xi32>)",
                            "tensor<3x5xi32>"),
            (Doubles{9, 2, 9, 3, 9, 9, 5, 9, 6, 9, 9, 9, 9, 9, 9}));
}

TEST(DataMovement, BroadcastIotaConcatenate) {
  EXPECT_EQ(runOnTwoByThree(
                R"(%c = stablehlo.constant dense<[[7], [8]]> : tensor<2x1xi32>
    %r = stablehlo.broadcast_in_dim %c, dims = [1, 0]
      : (tensor<2x1xi32>) -> tensor<2x2xi32>)",
                "tensor<2x2xi32>"),
            (Doubles{7, 8, 7, 8}));
  EXPECT_EQ(runOnTwoByThree("%r = stablehlo.iota dim = 1 : tensor<2x3xbf16>",
                            "tensor<2x3xbf16>"),
            (Doubles{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(
      runOnTwoByThree("%r = stablehlo.concatenate %x, %x, dim = 1 : "
                      "(tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x6xi32>",
                      "tensor<2x6xi32>"),
      (Doubles{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}));
}

TEST(DataMovement, DynamicSlicesAreClamped) {
  EXPECT_EQ(runOnTwoByThree(R"(%i = stablehlo.constant dense<-5> : tensor<i64>
    %j = stablehlo.constant dense<7> : tensor<i64>
    %r = stablehlo.dynamic_slice %x, %i, %j, sizes = [1, 2]
      : (tensor<2x3xi32>, tensor<i64>, tensor<i64>) -> tensor<1x2xi32>)",
                            "tensor<1x2xi32>"),
            (Doubles{2, 3}));
  EXPECT_EQ(runOnTwoByThree(R"(%i = stablehlo.constant dense<1> : tensor<i64>
    %u = stablehlo.constant dense<[[0, 0]]> : tensor<1x2xi32>
    %r = stablehlo.dynamic_update_slice %x, %u, %i, %i
      : (tensor<2x3xi32>, tensor<1x2xi32>, tensor<i64>, tensor<i64>) -> tensor<2x3xi32>)",
                            "tensor<2x3xi32>"),
            (Doubles{1, 2, 3, 4, 0, 0}));
}

TEST(DataMovement, ShapesThatAreNotKnown) {
  Tensor input = Tensor::of<float>(ElementType::F32, {2, 3},
                                   std::vector<float>{1, 2, 3, 4, 5, 6});
  Evaluated result =
      evaluateModule(R"(
    func.func @main(%x: tensor<?x?xf32>, %s: tensor<1xi64>) -> (tensor<?xf32>, tensor<?x?xf32>) {
      %r = stablehlo.dynamic_reshape %x, %s : (tensor<?x?xf32>, tensor<1xi64>) -> tensor<?xf32>
      %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<?x?xf32>) -> tensor<?x?xf32>
      return %r, %t : tensor<?xf32>, tensor<?x?xf32>
    })",
                     {input, Tensor::of<int64_t>(ElementType::I64, {1},
                                                 std::vector<int64_t>{6})});
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.shape(0), (Shape{6}));
  EXPECT_EQ(result.shape(1), (Shape{3, 2}));
}

TEST(DataMovement, ErrorsNameThePlace) {
  Evaluated result = evaluateModule(
      R"(
    func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      %r = stablehlo.add %x, %y : tensor<?xf32> loc("node_7")
      return %r : tensor<?xf32>
    })",
      {Tensor(ElementType::F32, {2}), Tensor(ElementType::F32, {3})});
  EXPECT_EQ(result.error, "'node_7': stablehlo.add: operands have different "
                          "shapes: 2xf32 and 3xf32");
}

TEST(DataMovement, HugeTensorsAreRefused) {
  Evaluated result =
      evaluateBody("%r = stablehlo.iota dim = 0 : tensor<1000000000000000xf64>",
                   "tensor<1000000000000000xf64>");
  EXPECT_NE(result.error.find("no memory"), std::string::npos) << result.error;
}

/// As weights stand in a model's file.
TEST(DataMovement, ElementsNeedNoAlignment) {
  const std::vector<int64_t> box = {2, 2};
  for (size_t width : {1, 2, 4, 8, 16}) {
    std::vector<std::byte> from(1 + 4 * width), to(1 + 4 * width);
    for (size_t i = 0; i < 4 * width; ++i)
      from[1 + i] = std::byte(i);
    interpreter::copyBox(width, box, to.data() + 1, {0, {1, 2}},
                         from.data() + 1, {0, {2, 1}});
    for (size_t place = 0; place < 4; ++place)
      EXPECT_EQ(to[1 + place * width],
                from[1 + (place % 2 * 2 + place / 2) * width])
          << width;
  }
}
