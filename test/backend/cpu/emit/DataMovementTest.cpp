//===- DataMovementTest.cpp - operations that move elements ---------------===//
//
// Covers: backend/cpu/emit ElementalMove UpdateKernel ScatterKernel

#include "backend/cpu/CompareWithInterpreter.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

using namespace sinter::test;

TEST(DataMovement, Transposes) {
  for (const char *dims : {"0, 2, 1", "1, 0, 2", "2, 1, 0", "1, 2, 0"}) {
    int64_t sizes[3] = {37, 5, 70};
    std::string to;
    for (const char *c = dims; *c; ++c)
      if (*c >= '0' && *c <= '2')
        to += std::to_string(sizes[*c - '0']) + "x";
    EXPECT_EQ(differs("(%a: tensor<37x5x70xf32>) -> tensor<" + to +
                      "f32> {\n %0 = stablehlo.transpose %a, dims = [" + dims +
                      "] : (tensor<37x5x70xf32>) -> tensor<" + to +
                      "f32>\n return %0 : tensor<" + to + "f32>\n}"),
              "")
        << dims;
  }
}

TEST(DataMovement, BroadcastsSlicesPadsAndReverses) {
  EXPECT_EQ(differs(R"((%a: tensor<4x6xf32>, %b: tensor<6xf32>, %p: tensor<f32>)
      -> (tensor<9x10xf32>, tensor<2x3xf32>, tensor<4x6xf32>) {
    %0 = stablehlo.broadcast_in_dim %b, dims = [1]
        : (tensor<6xf32>) -> tensor<4x6xf32>
    %1 = stablehlo.add %a, %0 : tensor<4x6xf32>
    %2 = stablehlo.pad %1, %p, low = [1, -1], high = [1, 0], interior = [1, 1]
        : (tensor<4x6xf32>, tensor<f32>) -> tensor<9x10xf32>
    %3 = stablehlo.slice %1 [1:4:2, 0:6:2] : (tensor<4x6xf32>) -> tensor<2x3xf32>
    %4 = stablehlo.reverse %1, dims = [0, 1] : tensor<4x6xf32>
    return %2, %3, %4 : tensor<9x10xf32>, tensor<2x3xf32>, tensor<4x6xf32>
  })"),
            "");
}

// What is padded is the same along the dimension whose elements are read
// several at a time, in the layout that interleaves channels.
TEST(DataMovement, PadsWhatIsTheSameAlongRows) {
  for (const int64_t width : {1, 3, 8, 16, 21})
    for (const int64_t low : {0, 3}) {
      auto sizes = [&](const std::string &first, const std::string &last) {
        return "tensor<2x" + first + std::to_string(width) + last + "xf32>";
      };
      const std::string channels = std::to_string(29 - low) + "x5x";
      const std::string from = sizes(channels, ""), padded = sizes("32x5x", ""),
                        split = sizes("2x16x5x", ""), to = sizes("2x5x", "x16");
      EXPECT_EQ(differs("(%a: tensor<2x" + std::to_string(29 - low) +
                        "xf32>, %p: tensor<f32>) -> " + to + R"( {
    %0 = stablehlo.broadcast_in_dim %a, dims = [0, 1] : (tensor<2x)" +
                        std::to_string(29 - low) + "xf32>) -> " + from +
                        "\n %1 = stablehlo.pad %0, %p, low = [0, " +
                        std::to_string(low) + R"(, 0, 0], high = [0, 3, 0, 0],
        interior = [0, 0, 0, 0] : ()" +
                        from + ", tensor<f32>) -> " + padded +
                        "\n %2 = stablehlo.reshape %1 : (" + padded + ") -> " +
                        split +
                        "\n %3 = stablehlo.transpose %2, dims = [0, 1, 3, 4, "
                        "2] : (" +
                        split + ") -> " + to + "\n return %3 : " + to + "\n}"),
                "")
          << "width " << width << ", " << low << " below";
    }
}

// Rows of elements, and of blocks of 16; what goes over the operand once, and
// more than once.
TEST(DataMovement, PadsByMode) {
  std::mt19937 random(5);
  auto below = [&](int64_t end) {
    return std::uniform_int_distribution<int64_t>(0, end - 1)(random);
  };
  auto typeOf = [](const std::vector<int64_t> &shape) {
    std::string text = "tensor<";
    for (const int64_t size : shape)
      text += std::to_string(size) + "x";
    return text + "f32>";
  };
  auto list = [](const std::vector<int64_t> &numbers) {
    std::string text;
    for (const int64_t number : numbers)
      text += (text.empty() ? "" : ", ") + std::to_string(number);
    return "[" + text + "]";
  };
  for (int round = 0; round < 60; ++round) {
    const std::string mode = std::array{"reflect", "edge", "wrap"}[round % 3];
    std::vector<int64_t> from = {1 + below(3), 1 + below(9), 1 + below(40)};
    if (below(2))
      from.push_back(16);
    std::vector<int64_t> low(from.size()), high(from.size()), to = from;
    for (size_t i = 0; i < from.size(); ++i) {
      if (below(3) != 0 && from[i] != 16) {
        // Seldom more than there is.
        const int64_t most = below(8) ? std::min<int64_t>(from[i], 5) : 9;
        low[i] = below(most);
        high[i] = below(most);
        if (below(4) == 0)
          (below(2) ? low : high)[i] = -below((from[i] + 1) / 2);
      }
      to[i] += low[i] + high[i];
    }
    const std::string in = typeOf(from), out = typeOf(to);
    EXPECT_EQ(differs("(%a: " + in + ", %b: " + out + ") -> " + out +
                      " {\n %0 = stablehlo.add %a, %a : " + in +
                      "\n %1 = nn.pad_mode %0, \"" + mode +
                      "\" low = " + list(low) + " high = " + list(high) +
                      " : (" + in + ") -> " + out +
                      "\n %2 = stablehlo.subtract %1, %b : " + out +
                      "\n return %2 : " + out + "\n}"),
              "")
        << mode << " of " << in << " by " << list(low) << " and " << list(high);
  }
}

TEST(DataMovement, ReshapesBetweenComputations) {
  EXPECT_EQ(
      differs(R"((%a: tensor<4x6xf32>) -> (tensor<2x3x4xf32>, tensor<24xf32>) {
    %0 = stablehlo.exponential %a : tensor<4x6xf32>
    %1 = stablehlo.reshape %0 : (tensor<4x6xf32>) -> tensor<2x3x4xf32>
    %2 = stablehlo.negate %1 : tensor<2x3x4xf32>
    %3 = stablehlo.reshape %2 : (tensor<2x3x4xf32>) -> tensor<24xf32>
    return %2, %3 : tensor<2x3x4xf32>, tensor<24xf32>
  })"),
      "");
}

TEST(DataMovement, ConcatenatesAlongEveryDimension) {
  EXPECT_EQ(
      differs(R"((%a: tensor<4x6xi32>, %b: tensor<4x3xi32>, %c: tensor<2x6xi32>)
      -> (tensor<4x9xi32>, tensor<6x6xi32>, tensor<4x9xi32>) {
    %0 = stablehlo.concatenate %a, %b, dim = 1
        : (tensor<4x6xi32>, tensor<4x3xi32>) -> tensor<4x9xi32>
    %1 = stablehlo.concatenate %a, %c, dim = 0
        : (tensor<4x6xi32>, tensor<2x6xi32>) -> tensor<6x6xi32>
    %2 = stablehlo.negate %0 : tensor<4x9xi32>
    return %0, %1, %2 : tensor<4x9xi32>, tensor<6x6xi32>, tensor<4x9xi32>
  })"),
      "");
}

TEST(DataMovement, CountsGathersAndUpdates) {
  EXPECT_EQ(
      differs(R"((%a: tensor<8x6xf32>, %i: tensor<3x1xi64>, %s: tensor<i32>,
       %u: tensor<2x3xf32>) -> (tensor<3x6xf32>, tensor<2x4xf32>, tensor<8x6xf32>, tensor<3x4xi32>) {
    %0 = "stablehlo.gather"(%a, %i) {
        dimension_numbers = #stablehlo.gather<offset_dims = [1],
            collapsed_slice_dims = [0], start_index_map = [0],
            index_vector_dim = 1>,
        slice_sizes = array<i64: 1, 6>}
        : (tensor<8x6xf32>, tensor<3x1xi64>) -> tensor<3x6xf32>
    %1 = stablehlo.dynamic_slice %a, %s, %s, sizes = [2, 4]
        : (tensor<8x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x4xf32>
    %2 = stablehlo.dynamic_update_slice %a, %u, %s, %s
        : (tensor<8x6xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<8x6xf32>
    %3 = stablehlo.iota dim = 1 : tensor<3x4xi32>
    return %0, %1, %2, %3 : tensor<3x6xf32>, tensor<2x4xf32>, tensor<8x6xf32>, tensor<3x4xi32>
  })"),
      "");
}

TEST(DataMovement, CopesWithEmptyTensors) {
  EXPECT_EQ(differs(R"((%a: tensor<0x6xf32>, %b: tensor<2x6xf32>)
      -> (tensor<2x6xf32>, tensor<0x6xf32>) {
    %0 = stablehlo.concatenate %a, %b, dim = 0
        : (tensor<0x6xf32>, tensor<2x6xf32>) -> tensor<2x6xf32>
    %1 = stablehlo.negate %a : tensor<0x6xf32>
    return %0, %1 : tensor<2x6xf32>, tensor<0x6xf32>
  })"),
            "");
}

TEST(DataMovement, SortsTwoTensorsStably) {
  for (const char *dim : {"0", "1"})
    EXPECT_EQ(
        differs(
            std::string(
                R"((%a: tensor<13x37xi32>) -> (tensor<13x37xi32>, tensor<13x37xi32>) {
    %i = stablehlo.iota dim = 1 : tensor<13x37xi32>
    %0:2 = "stablehlo.sort"(%a, %i) ({
    ^bb0(%x: tensor<i32>, %y: tensor<i32>, %j: tensor<i32>, %k: tensor<i32>):
      %c = stablehlo.compare GT, %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%c) : (tensor<i1>) -> ()
    }) {dimension = )") +
            dim + R"( : i64, is_stable = true}
      : (tensor<13x37xi32>, tensor<13x37xi32>) -> (tensor<13x37xi32>, tensor<13x37xi32>)
    return %0#0, %0#1 : tensor<13x37xi32>, tensor<13x37xi32>
  })"),
        "")
        << dim;
}

TEST(DataMovement, ScattersAndSkipsWhatIsOutside) {
  EXPECT_EQ(
      differs(R"((%a: tensor<8x6xf32>, %i: tensor<5x1xi64>, %u: tensor<5x6xf32>)
      -> tensor<8x6xf32> {
    %0 = "stablehlo.scatter"(%a, %i, %u) ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      "stablehlo.return"(%s) : (tensor<f32>) -> ()
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
          inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
          index_vector_dim = 1>}
      : (tensor<8x6xf32>, tensor<5x1xi64>, tensor<5x6xf32>) -> tensor<8x6xf32>
    return %0 : tensor<8x6xf32>
  })"),
      "");
}
