// How much operations compute, by their definitions.

#include "graph/ArithmeticCount.h"

#include "graph/Model.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace sinter;

namespace {

/// The multiply-adds of the last operation of a function; -1 where a size is
/// not known.
int64_t multiplyAddsOf(const std::string &arguments,
                       const std::string &operation,
                       const std::string &result) {
  auto context = makeContext();
  Model model(context, parseSourceString<ModuleOp>(
                           "func.func @main(" + arguments + ") -> " + result +
                               " {\n %r = " + operation +
                               "\n return %r : " + result + "\n}",
                           context.get()));
  EXPECT_TRUE(model.module()) << operation;
  if (!model.module())
    return -2;
  Operation *op = model.entry().front().getTerminator()->getPrevNode();
  int64_t sum = 0;
  for (const DimProduct &factors : multiplyAdds(*op)) {
    int64_t product = 1;
    for (Dim factor : factors) {
      if (!factor.isStatic())
        return -1;
      product *= factor.value();
    }
    sum += product;
  }
  // Both counts agree.
  if (sum > 0) {
    EXPECT_EQ(arithmeticCount(*op), 2.0 * static_cast<double>(sum));
  }
  return sum;
}

/// A convolution of NCHW with OIHW.
std::string convolution(const std::string &window,
                        const std::string &attributes,
                        const std::string &types) {
  return "stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, "
         "1]->[b, f, 0, 1], window = {" +
         window + "} {" + attributes + "} : " + types;
}

} // namespace

TEST(ArithmeticCount, Matmuls) {
  EXPECT_EQ(multiplyAddsOf("%x: tensor<3x4x5xf32>, %w: tensor<3x5x6xf32>",
                           "stablehlo.dot_general %x, %w, batching_dims = [0] "
                           "x [0], contracting_dims = [2] x [1] : "
                           "(tensor<3x4x5xf32>, tensor<3x5x6xf32>) -> "
                           "tensor<3x4x6xf32>",
                           "tensor<3x4x6xf32>"),
            3 * 4 * 5 * 6);
  EXPECT_EQ(multiplyAddsOf("%x: tensor<4x5xf32>, %w: tensor<5x6xf32>",
                           "\"stablehlo.dot\"(%x, %w) : (tensor<4x5xf32>, "
                           "tensor<5x6xf32>) -> tensor<4x6xf32>",
                           "tensor<4x6xf32>"),
            4 * 5 * 6);
  EXPECT_EQ(multiplyAddsOf("%x: tensor<4x5xf32>, %w: tensor<5x6xf32>",
                           "\"stablehlo.einsum\"(%x, %w) <{einsum_config = "
                           "\"ab,bc->ac\"}> : (tensor<4x5xf32>, "
                           "tensor<5x6xf32>) -> tensor<4x6xf32>",
                           "tensor<4x6xf32>"),
            4 * 5 * 6);
}

TEST(ArithmeticCount, Convolutions) {
  // 2 images of 6 channels become 4, by 3x3; 8x8 becomes 4x4 with stride 2.
  EXPECT_EQ(multiplyAddsOf(
                "%x: tensor<2x6x8x8xf32>, %w: tensor<4x6x3x3xf32>",
                convolution("stride = [2, 2], pad = [[1, 0], [1, 0]]",
                            "batch_group_count = 1 : i64, feature_group_count "
                            "= 1 : i64",
                            "(tensor<2x6x8x8xf32>, tensor<4x6x3x3xf32>) -> "
                            "tensor<2x4x4x4xf32>"),
                "tensor<2x4x4x4xf32>"),
            2 * 4 * 4 * 4 * 6 * 3 * 3);
  // Channel by channel.
  EXPECT_EQ(multiplyAddsOf(
                "%x: tensor<1x6x8x8xf32>, %w: tensor<6x1x3x3xf32>",
                convolution("",
                            "batch_group_count = 1 : i64, "
                            "feature_group_count = 6 : i64",
                            "(tensor<1x6x8x8xf32>, tensor<6x1x3x3xf32>) -> "
                            "tensor<1x6x6x6xf32>"),
                "tensor<1x6x6x6xf32>"),
            6 * 6 * 6 * 3 * 3);
  // Transposed: each of 4x4 elements of 6 channels is multiplied by 2x2
  // elements for 3 channels.
  EXPECT_EQ(multiplyAddsOf(
                "%x: tensor<1x6x4x4xf32>, %w: tensor<3x6x2x2xf32>",
                convolution("pad = [[1, 1], [1, 1]], lhs_dilate = [2, 2]",
                            "batch_group_count = 1 : i64, feature_group_count "
                            "= 1 : i64",
                            "(tensor<1x6x4x4xf32>, tensor<3x6x2x2xf32>) -> "
                            "tensor<1x3x8x8xf32>"),
                "tensor<1x3x8x8xf32>"),
            6 * 4 * 4 * 3 * 2 * 2);
}

TEST(ArithmeticCount, AttentionAndRecurrence) {
  // 2 heads, 5 queries of 8, 7 keys, values of 3.
  EXPECT_EQ(multiplyAddsOf(
                "%q: tensor<2x5x8xf32>, %k: tensor<2x7x8xf32>, %v: "
                "tensor<2x7x3xf32>",
                "nn.attention %q, %k, %v scale = 1.000000e+00 : "
                "(tensor<2x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x3xf32>) -> "
                "tensor<2x5x3xf32>",
                "tensor<2x5x3xf32>"),
            2 * 5 * 7 * (8 + 3));
}

TEST(ArithmeticCount, OthersHaveNone) {
  EXPECT_EQ(multiplyAddsOf("%x: tensor<4xf32>",
                           "stablehlo.multiply %x, %x : tensor<4xf32>",
                           "tensor<4xf32>"),
            0);
}

TEST(ArithmeticCount, UnknownSizes) {
  EXPECT_EQ(multiplyAddsOf("%x: tensor<?x5xf32>, %w: tensor<5x6xf32>",
                           "stablehlo.dot_general %x, %w, contracting_dims = "
                           "[1] x [0] : (tensor<?x5xf32>, tensor<5x6xf32>) -> "
                           "tensor<?x6xf32>",
                           "tensor<?x6xf32>"),
            -1);
}
