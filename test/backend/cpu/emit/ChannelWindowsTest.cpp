//===- ChannelWindowsTest.cpp - windows and padding beside each other
//------===//
//
// Covers: backend/cpu/emit BlockedKernel ChannelWindows PoolKernel

#include "backend/cpu/CompareWithInterpreter.h"

#include <gtest/gtest.h>

using namespace sinter::test;

static std::string windows(int channels, const std::string &type,
                           const std::string &op, const std::string &initial,
                           bool isFused) {
  std::string in = "tensor<2x9x8x" + std::to_string(channels) + "x" + type;
  std::string out = "tensor<2x5x4x" + std::to_string(channels) + "x" + type;
  std::string scalar = "tensor<" + type + ">";
  return "(%a: " + in + ">) -> " + out + R"(> {
    %z = stablehlo.constant dense<)" +
         initial + "> : " + scalar + R"(
    %w = "stablehlo.reduce_window"(%a, %z) ({
    ^bb0(%x: )" +
         scalar + ", %y: " + scalar + R"():
      %c = stablehlo.)" +
         op + " %x, %y : " + scalar + R"(
      stablehlo.return %c : )" +
         scalar + R"(
    }) {window_dimensions = array<i64: 1, 3, 3, 1>,
        window_strides = array<i64: 1, 2, 2, 1>,
        padding = dense<[[0, 0], [1, 1], [0, 1], [0, 0]]> : tensor<4x2xi64>}
      : ()" +
         in + ">, " + scalar + ") -> " + out + ">\n    " +
         (isFused
              ? "%r = stablehlo.abs %w : " + out + ">"
              : "%r = stablehlo.reshape %w : (" + out + ">) -> " + out + ">") +
         "\n    return %r : " + out + ">\n  }";
}

TEST(ChannelWindows, OfEveryNumberOfChannels) {
  for (int channels : {1, 15, 16, 17, 40, 64})
    for (bool isFused : {false, true}) {
      EXPECT_EQ(
          differs(windows(channels, "f32", "maximum", "0xFF800000", isFused)),
          "")
          << channels;
      EXPECT_EQ(differs(windows(channels, "f32", "add", "0.5", isFused)), "")
          << channels;
      EXPECT_EQ(
          differs(windows(channels, "bf16", "minimum", "0x7F80", isFused)), "")
          << channels;
      EXPECT_EQ(differs(windows(channels, "i32", "maximum", "-100", isFused)),
                "")
          << channels;
      EXPECT_EQ(differs(windows(channels, "f64", "multiply", "1.0", isFused)),
                "")
          << channels;
      EXPECT_EQ(differs(windows(channels, "f16", "add", "0.0", isFused),
                        {1e-2, 1e-2}),
                "")
          << channels;
    }
}

TEST(ChannelWindows, SumsOfNarrowFloatsAreRoundedOnce) {
  // In bf16, 256 + 1 is 256.
  EXPECT_EQ(differs(R"((%a: tensor<2x3xf32>) -> tensor<f32> {
    %one = stablehlo.constant dense<1.0> : tensor<4096xbf16>
    %z = stablehlo.constant dense<0.0> : tensor<bf16>
    %x = stablehlo.optimization_barrier %one : tensor<4096xbf16>
    %s = stablehlo.reduce(%x init: %z) applies stablehlo.add
      across dimensions = [0] : (tensor<4096xbf16>, tensor<bf16>) -> tensor<bf16>
    %f = stablehlo.convert %s : (tensor<bf16>) -> tensor<f32>
    %least = stablehlo.constant dense<4096.0> : tensor<f32>
    %r = stablehlo.minimum %f, %least : tensor<f32>
    return %r : tensor<f32>
  })",
                    {1, 1}),
            "");
}

static std::string selecting(const std::string &shape,
                             const std::string &source, const std::string &type,
                             const std::string &direction,
                             const std::string &attributes) {
  std::string in = "tensor<" + shape + "x" + type + ">",
              out = "tensor<" + source + "x" + type + ">",
              scalar = "tensor<" + type + ">";
  std::string zero = type[0] == 'i' ? "0" : "0.0";
  return "(%a: " + in + ", %s: " + out + ") -> " + in + R"( {
    %z = stablehlo.constant dense<)" +
         zero + "> : " + scalar + R"(
    %r = "stablehlo.select_and_scatter"(%a, %s, %z) ({
    ^bb0(%x: )" +
         scalar + ", %y: " + scalar + R"():
      %c = stablehlo.compare )" +
         direction + ", %x, %y : (" + scalar + ", " + scalar +
         R"() -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }, {
    ^bb0(%x: )" +
         scalar + ", %y: " + scalar + R"():
      %c = stablehlo.add %x, %y : )" +
         scalar + R"(
      stablehlo.return %c : )" +
         scalar + R"(
    }) {)" +
         attributes + "} : (" + in + ", " + out + ", " + scalar + ") -> " + in +
         "\n    return %r : " + in + "\n  }";
}

TEST(ChannelWindows, SelectAndScatter) {
  for (int channels : {3, 16, 21, 32})
    for (const char *type : {"f32", "i32", "bf16"})
      for (const char *direction : {"GE", "GT", "LT"}) {
        std::string c = std::to_string(channels);
        EXPECT_EQ(
            differs(selecting("2x8x6x" + c, "2x4x3x" + c, type, direction,
                              "window_dimensions = array<i64: 1, 2, 2, 1>,"
                              "window_strides = array<i64: 1, 2, 2, 1>"),
                    {1e-2, 1e-2}),
            "")
            << channels << type << direction;
        EXPECT_EQ(
            differs(selecting("2x7x5x" + c, "2x4x3x" + c, type, direction,
                              "window_dimensions = array<i64: 1, 3, 3, 1>,"
                              "window_strides = array<i64: 1, 2, 2, 1>,"
                              "padding = dense<[[0,0],[1,1],[1,1],[0,0]]> :"
                              "tensor<4x2xi64>"),
                    {1e-2, 1e-2}),
            "")
            << channels << type << direction;
      }
}

//===----------------------------------------------------------------------===//
// Rows in parts
//===----------------------------------------------------------------------===//

static std::string padded(const std::string &from, const std::string &to,
                          const std::string &low, const std::string &high,
                          const std::string &interior, const char *tail) {
  std::string in = "tensor<" + from + "xf32>", out = "tensor<" + to + "xf32>";
  return "(%a: " + in + ", %b: " + out + ", %z: tensor<f32>) -> " + out +
         " {\n    %p = stablehlo.pad %a, %z, low = [" + low + "], high = [" +
         high + "], interior = [" + interior + "] : (" + in +
         ", tensor<f32>) -> " + out + "\n    %r = stablehlo." + tail + " : " +
         out + "\n    return %r : " + out + "\n  }";
}

TEST(RowParts, Padding) {
  struct {
    const char *from, *to, *low, *high, *interior;
  } cases[] = {{"5x7", "8x12", "1, 2", "2, 3", "0, 0"},
               {"5x7", "5x9", "0, -1", "0, 3", "0, 0"},
               {"5x7", "4x4", "-2, -3", "1, 0", "0, 0"},
               {"5x7", "11x13", "1, 0", "1, 0", "1, 1"},
               {"5x7", "3x4", "-1, -2", "-1, -1", "0, 0"},
               {"5x0", "6x4", "1, 2", "0, 2", "0, 0"},
               {"3x4x300", "5x4x333", "1, 0, 16", "1, 0, 17", "0, 0, 0"},
               {"70000", "70016", "7", "9", "0"},
               {"1", "40", "39", "0", "0"}};
  for (auto [from, to, low, high, interior] : cases)
    for (const char *tail : {"abs %p", "add %p, %b", "multiply %p, %p"})
      EXPECT_EQ(differs(padded(from, to, low, high, interior, tail)), "")
          << from << " to " << to << " " << tail;
}

TEST(RowParts, TwoPadsAndAConcatenation) {
  EXPECT_EQ(
      differs(
          R"((%a: tensor<6x20xf32>, %b: tensor<7x16xf32>, %c: tensor<8x9xf32>,
    %d: tensor<8x15xf32>, %z: tensor<f32>) -> tensor<8x24xf32> {
    %0 = stablehlo.pad %a, %z, low = [1, 3], high = [1, 1], interior = [0, 0]
      : (tensor<6x20xf32>, tensor<f32>) -> tensor<8x24xf32>
    %1 = stablehlo.pad %b, %z, low = [1, 8], high = [0, 0], interior = [0, 0]
      : (tensor<7x16xf32>, tensor<f32>) -> tensor<8x24xf32>
    %2 = stablehlo.concatenate %c, %d, dim = 1
      : (tensor<8x9xf32>, tensor<8x15xf32>) -> tensor<8x24xf32>
    %3 = stablehlo.add %0, %1 : tensor<8x24xf32>
    %4 = stablehlo.multiply %3, %2 : tensor<8x24xf32>
    return %4 : tensor<8x24xf32>
  })"),
      "");
}

//===----------------------------------------------------------------------===//
// Rows of updates
//===----------------------------------------------------------------------===//

TEST(ScatterRows, CutAtTheEdgesAndInALoop) {
  // Starts along the rows too, many of them partly outside.
  EXPECT_EQ(differs(R"((%a: tensor<9x33xf32>, %i: tensor<20x2xi32>,
    %u: tensor<20x1x8xf32>) -> tensor<9x33xf32> {
    %scale = stablehlo.constant dense<4> : tensor<20x2xi32>
    %shift = stablehlo.constant dense<-5> : tensor<20x2xi32>
    %m = stablehlo.multiply %i, %scale : tensor<20x2xi32>
    %j = stablehlo.add %m, %shift : tensor<20x2xi32>
    %0 = "stablehlo.scatter"(%a, %j, %u) ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.subtract %y, %x : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<
          update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0, 1],
          index_vector_dim = 1>}
      : (tensor<9x33xf32>, tensor<20x2xi32>, tensor<20x1x8xf32>)
      -> tensor<9x33xf32>
    return %0 : tensor<9x33xf32>
  })"),
            "");
  EXPECT_EQ(differs(R"((%a: tensor<9x5xf32>, %i: tensor<6x1xi32>,
    %u: tensor<6x5xf32>) -> (tensor<9x5xf32>, tensor<9x5xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %five = stablehlo.constant dense<5> : tensor<i32>
    %e = stablehlo.exponential %a : tensor<9x5xf32>
    %w:2 = stablehlo.while(%n = %zero, %s = %e) : tensor<i32>, tensor<9x5xf32>
    cond {
      %c = stablehlo.compare LT, %n, %five
        : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %0 = "stablehlo.scatter"(%s, %i, %u) ({
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        %t = stablehlo.add %x, %y : tensor<f32>
        stablehlo.return %t : tensor<f32>
      }) {scatter_dimension_numbers = #stablehlo.scatter<
            update_window_dims = [1], inserted_window_dims = [0],
            scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}
        : (tensor<9x5xf32>, tensor<6x1xi32>, tensor<6x5xf32>)
        -> tensor<9x5xf32>
      %m = stablehlo.add %n, %one : tensor<i32>
      stablehlo.return %m, %0 : tensor<i32>, tensor<9x5xf32>
    }
    %f = "stablehlo.scatter"(%w#1, %i, %u) ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      stablehlo.return %y : tensor<f32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<
          update_window_dims = [1], inserted_window_dims = [0],
          scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}
      : (tensor<9x5xf32>, tensor<6x1xi32>, tensor<6x5xf32>) -> tensor<9x5xf32>
    return %f, %e : tensor<9x5xf32>, tensor<9x5xf32>
  })"),
            "");
}

TEST(ScatterRows, WideRowsInSeveralTasks) {
  EXPECT_EQ(differs(R"((%a: tensor<50x700xf32>, %i: tensor<400x1xi32>,
    %u: tensor<400x700xf32>) -> tensor<50x700xf32> {
    %e = stablehlo.abs %a : tensor<50x700xf32>
    %0 = "stablehlo.scatter"(%e, %i, %u) ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
          inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
          index_vector_dim = 1>}
      : (tensor<50x700xf32>, tensor<400x1xi32>, tensor<400x700xf32>)
      -> tensor<50x700xf32>
    %1 = stablehlo.negate %0 : tensor<50x700xf32>
    return %1 : tensor<50x700xf32>
  })"),
            "");
}
