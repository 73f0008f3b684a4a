//===- RandomBitsTest.cpp - random bits against published vectors ---------===//
//
// Covers: interpreter Rng
// Covers: runtime RandomBits

#include "runtime/RandomBits.h"
#include "Evaluate.h"

namespace sinter {
namespace {

/// Known answers of Random123 (kat_vectors of its release 1.14).
TEST(RandomBits, ThreefryKnownAnswers) {
  using Pair = std::array<uint32_t, 2>;
  EXPECT_EQ(threefry2x32({0, 0}, {0, 0}), (Pair{0x6b200159, 0x99ba4efe}));
  EXPECT_EQ(threefry2x32({~0u, ~0u}, {~0u, ~0u}),
            (Pair{0x1cb996fc, 0xbb002be7}));
  EXPECT_EQ(threefry2x32({0x243f6a88, 0x85a308d3}, {0x13198a2e, 0x03707344}),
            (Pair{0xc4923a9c, 0x483df7a0}));
}

TEST(RandomBits, PhiloxKnownAnswers) {
  using Four = std::array<uint32_t, 4>;
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (Four{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (Four{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                       {0xa4093822, 0x299f31d0}),
            (Four{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

/// The specification's example.
TEST(RngBitGenerator, Threefry64) {
  Evaluated result = evaluateModule(R"(
    func.func @main() -> (tensor<2xui64>, tensor<2x2xui64>) {
      %state = stablehlo.constant dense<[1, 2]> : tensor<2xui64>
      %next, %bits = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY
          : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x2xui64>)
      return %next, %bits : tensor<2xui64>, tensor<2x2xui64>
    })");
  ASSERT_EQ(result.error, "");
  EXPECT_EQ(result.tensors[0].at<uint64_t>(1), 6u);
  const uint64_t expected[] = {9236835810183407956u, 16087790271692313299u,
                               18212823393184779219u, 2658481902456610144u};
  for (int64_t i = 0; i < 4; ++i)
    EXPECT_EQ(result.tensors[1].at<uint64_t>(i), expected[i]);
}

/// A block's two words go to neighbours along the first even dimension.
TEST(RngBitGenerator, Threefry32SharesBlocks) {
  Evaluated result = evaluateModule(R"(
    func.func @main() -> (tensor<2xui64>, tensor<3x2xui32>) {
      %state = stablehlo.constant dense<[7, 5]> : tensor<2xui64>
      %next, %bits = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY
          : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x2xui32>)
      return %next, %bits : tensor<2xui64>, tensor<3x2xui32>
    })");
  ASSERT_EQ(result.error, "");
  EXPECT_EQ(result.tensors[0].at<uint64_t>(1), 8u);
  for (uint32_t row = 0; row < 3; ++row) {
    const auto block = threefry2x32({5 + row, 0}, {7, 0});
    EXPECT_EQ(result.tensors[1].at<uint32_t>(2 * row), block[0]);
    EXPECT_EQ(result.tensors[1].at<uint32_t>(2 * row + 1), block[1]);
  }
}

/// The counter of a state of three words carries; narrow types take low bits.
TEST(RngBitGenerator, PhiloxCounterCarries) {
  Evaluated result = evaluateModule(R"(
    func.func @main() -> (tensor<3xui64>, tensor<5xi8>) {
      %state = stablehlo.constant dense<[3, 18446744073709551615, 9]>
          : tensor<3xui64>
      %next, %bits = stablehlo.rng_bit_generator %state, algorithm = PHILOX
          : (tensor<3xui64>) -> (tensor<3xui64>, tensor<5xi8>)
      return %next, %bits : tensor<3xui64>, tensor<5xi8>
    })");
  ASSERT_EQ(result.error, "");
  EXPECT_EQ(result.tensors[0].at<uint64_t>(1), 1u);
  EXPECT_EQ(result.tensors[0].at<uint64_t>(2), 10u);
  const auto first = philox4x32({~0u, ~0u, 9, 0}, {3, 0});
  const auto second = philox4x32({0, 0, 10, 0}, {3, 0});
  for (int64_t i = 0; i < 4; ++i)
    EXPECT_EQ(result.tensors[1].at<int8_t>(i), int8_t(first[i]));
  EXPECT_EQ(result.tensors[1].at<int8_t>(4), int8_t(second[0]));
}

TEST(Rng, UniformStaysInsideAndGoesOn) {
  Evaluated result = evaluateModule(R"(
    func.func @main() -> (tensor<1000xf32>, tensor<1000xf32>, tensor<1000xi32>) {
      %a = stablehlo.constant dense<2.0> : tensor<f32>
      %b = stablehlo.constant dense<3.0> : tensor<f32>
      %i = stablehlo.constant dense<-2> : tensor<i32>
      %j = stablehlo.constant dense<2> : tensor<i32>
      %shape = stablehlo.constant dense<1000> : tensor<1xi64>
      %r = stablehlo.rng %a, %b, %shape, distribution = UNIFORM
          : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<1000xf32>
      %s = stablehlo.rng %a, %b, %shape, distribution = NORMAL
          : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<1000xf32>
      %t = stablehlo.rng %i, %j, %shape, distribution = UNIFORM
          : (tensor<i32>, tensor<i32>, tensor<1xi64>) -> tensor<1000xi32>
      return %r, %s, %t : tensor<1000xf32>, tensor<1000xf32>, tensor<1000xi32>
    })");
  ASSERT_EQ(result.error, "");
  double sum[3] = {}, square = 0;
  for (double x : result.doubles(0)) {
    EXPECT_TRUE(x >= 2 && x < 3);
    sum[0] += x;
  }
  for (double x : result.doubles(1)) {
    sum[1] += x;
    square += (x - 2) * (x - 2);
  }
  for (double x : result.doubles(2)) {
    EXPECT_TRUE(x >= -2 && x < 2);
    sum[2] += x;
  }
  EXPECT_NEAR(sum[0] / 1000, 2.5, 0.05);
  EXPECT_NEAR(sum[1] / 1000, 2, 0.5);
  EXPECT_NEAR(square / 1000, 9, 1.5);
  EXPECT_NEAR(sum[2] / 1000, -0.5, 0.2);
}

} // namespace
} // namespace sinter
