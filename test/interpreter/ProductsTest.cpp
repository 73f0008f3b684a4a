//===- ProductsTest.cpp - convolution and dot_general ---------------------===//
//
// Covers: interpreter Convolution DotGeneral Einsum

#include "interpreter/Evaluate.h"

using namespace sinter;
using Doubles = std::vector<double>;

TEST(DotGeneral, BatchedWithPermutedDimensions) {
  EXPECT_EQ(evaluateBody(R"(
    %a = stablehlo.constant dense<[[[1., 2.], [3., 4.]]]> : tensor<1x2x2xf32>
    %b = stablehlo.constant dense<[[[5., 6.], [7., 8.]]]> : tensor<1x2x2xf32>
    %r = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [1] x [2]
      : (tensor<1x2x2xf32>, tensor<1x2x2xf32>) -> tensor<1x2x2xf32>)",
                         "tensor<1x2x2xf32>")
                .doubles(),
            (Doubles{23, 31, 34, 46}));
}

TEST(DotGeneral, IntegersIntoWiderOnes) {
  EXPECT_EQ(evaluateBody(R"(
    %a = stablehlo.constant dense<[-128, 127]> : tensor<2xi8>
    %b = stablehlo.constant dense<[-128, 127]> : tensor<2xi8>
    %r = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0]
      : (tensor<2xi8>, tensor<2xi8>) -> tensor<i32>)",
                         "tensor<i32>")
                .doubles(),
            (Doubles{32513}));
}

/// A convolution of 1..n with a kernel of 1..m in one dimension.
static Doubles convolve(int n, int m, const std::string &window,
                        const std::string &result) {
  std::string x = "tensor<1x1x" + std::to_string(n) + "xf32>";
  std::string k = "tensor<1x1x" + std::to_string(m) + "xf32>";
  Evaluated evaluated = evaluateBody(
      "%i = stablehlo.iota dim = 2 : " + x +
          "\n%j = stablehlo.iota dim = 2 : " + k +
          "\n%c = stablehlo.constant dense<1.0> : " + x +
          "\n%d = stablehlo.constant dense<1.0> : " + k +
          "\n%x = stablehlo.add %i, %c : " + x +
          "\n%k = stablehlo.add %j, %d : " + k +
          "\n%r = stablehlo.convolution(%x, %k) dim_numbers = "
          "[b, f, 0]x[o, i, 0]->[b, f, 0], window = {" +
          window +
          "} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (" +
          x + ", " + k + ") -> " + result,
      result);
  EXPECT_EQ(evaluated.error, "");
  return evaluated.doubles();
}

TEST(Convolution, PaddingStridesDilations) {
  EXPECT_EQ(convolve(4, 2, "pad = [[1, 0]]", "tensor<1x1x4xf32>"),
            (Doubles{2, 5, 8, 11}));
  EXPECT_EQ(convolve(4, 2, "pad = [[-1, 0]]", "tensor<1x1x2xf32>"),
            (Doubles{8, 11}));
  EXPECT_EQ(convolve(4, 2, "stride = [2]", "tensor<1x1x2xf32>"),
            (Doubles{5, 11}));
  EXPECT_EQ(convolve(4, 2, "rhs_dilate = [2]", "tensor<1x1x2xf32>"),
            (Doubles{7, 10}));
  // 1 0 2 0 3 under [1, 2].
  EXPECT_EQ(convolve(3, 2, "lhs_dilate = [2]", "tensor<1x1x4xf32>"),
            (Doubles{1, 4, 2, 6}));
  EXPECT_EQ(convolve(4, 2, "reverse = [true]", "tensor<1x1x3xf32>"),
            (Doubles{4, 7, 10}));
}

TEST(Convolution, GroupsAndOtherOrders) {
  // Features last; each feature has a kernel of its own.
  EXPECT_EQ(evaluateBody(R"(
    %x = stablehlo.constant dense<[[[1., 10.], [2., 20.], [3., 30.]]]> : tensor<1x3x2xf32>
    %k = stablehlo.constant dense<[[[1., 3.]], [[2., 4.]]]> : tensor<2x1x2xf32>
    %r = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
      window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64}
      : (tensor<1x3x2xf32>, tensor<2x1x2xf32>) -> tensor<1x2x2xf32>)",
                         "tensor<1x2x2xf32>")
                .doubles(),
            (Doubles{5, 110, 8, 180}));
  // Two batch groups: image 0 with output 0, image 1 with output 1.
  EXPECT_EQ(evaluateBody(R"(
    %x = stablehlo.constant dense<[[[1., 2.]], [[3., 4.]]]> : tensor<2x1x2xf32>
    %k = stablehlo.constant dense<[[[1.]], [[10.]]]> : tensor<2x1x1xf32>
    %r = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0],
      window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64}
      : (tensor<2x1x2xf32>, tensor<2x1x1xf32>) -> tensor<1x2x2xf32>)",
                         "tensor<1x2x2xf32>")
                .doubles(),
            (Doubles{1, 2, 30, 40}));
}
