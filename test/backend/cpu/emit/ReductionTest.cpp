//===- ReductionTest.cpp - reductions, windows, products, rows ------------===//
//
// Covers: backend/cpu/emit ElementalReduce RowKernel RowParts WideSum
// Covers: backend/cpu/quantized PairMinMax

#include "backend/cpu/CompareWithInterpreter.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>

using namespace sinter::test;

TEST(Reduction, SumsAndMaximaOverEveryDimension) {
  struct {
    const char *dims, *result;
  } cases[] = {{"0", "9x33x"}, {"1", "7x33x"}, {"2", "7x9x"},
               {"1, 2", "7x"}, {"0, 2", "9x"}, {"0, 1, 2", ""}};
  for (auto [dims, result] : cases)
    for (const char *op : {"add", "maximum"})
      for (const char *type : {"f32", "i32", "f64"}) {
        std::string t = type, r = std::string("tensor<") + result + t + ">";
        EXPECT_EQ(differs("(%a: tensor<7x9x33x" + t + ">, %i: tensor<" + t +
                              ">) -> " + r +
                              " {\n %0 = stablehlo.reduce(%a init: %i) "
                              "applies stablehlo." +
                              op + " across dimensions = [" + dims +
                              "] : (tensor<7x9x33x" + t + ">, tensor<" + t +
                              ">) -> " + r + "\n return %0 : " + r + "\n}",
                          {1e-4, 1e-4}),
                  "")
            << op << " over " << dims << " of " << type;
      }
}

/// Rows of 37 elements that are all \p fill but for one of \p special.
static std::string rowsAround(const std::string &fill,
                              std::initializer_list<std::string> special) {
  std::string rows;
  for (const std::string &one : special) {
    rows += rows.empty() ? "[[" : ", [";
    for (int i = 0; i < 37; ++i)
      rows += (i ? ", " : "") + (i == 20 ? one : fill);
    rows += "]";
  }
  return rows + "]";
}

TEST(Reduction, MinMaxKnowNanAndTheSignOfZero) {
  struct {
    std::string type, nan;
  } types[] = {{"f16", "FE00"},
               {"bf16", "FFC0"},
               {"f32", "FFC00000"},
               {"f64", "FFF8000000000000"}};
  for (const auto &[type, nan] : types)
    for (const char *op : {"maximum", "minimum"})
      for (const char *fill : {"0.0", "-0.0"}) {
        std::string positive = nan;
        positive[0] = '7';
        const std::string rows = rowsAround(
            fill, {"0x" + nan, "0x" + positive, "0.0", "-0.0", "3.5", "-3.5"});
        std::string text = R"((%a: tensor<6x37xT>) -> tensor<6xT> {
          %c = stablehlo.constant dense<ROWS> : tensor<6x37xT>
          %y = stablehlo.compare EQ, %a, %a : (tensor<6x37xT>, tensor<6x37xT>) -> tensor<6x37xi1>
          %x = stablehlo.select %y, %c, %a : tensor<6x37xi1>, tensor<6x37xT>
          %i = stablehlo.constant dense<FILL> : tensor<T>
          %r = stablehlo.reduce(%x init: %i) applies stablehlo.OP across dimensions = [1]
              : (tensor<6x37xT>, tensor<T>) -> tensor<6xT>
          %o = stablehlo.constant dense<1.0> : tensor<6xT>
          %0 = stablehlo.divide %o, %r : tensor<6xT>
          return %0 : tensor<6xT>
        })";
        for (auto [name, by] :
             {std::pair<std::string, std::string>{"ROWS", rows},
              {"FILL", fill},
              {"OP", op},
              {"xT", "x" + type},
              {"<T>", "<" + type + ">"}})
          for (size_t at; (at = text.find(name)) != std::string::npos;)
            text.replace(at, name.size(), by);
        EXPECT_EQ(differs(text), "") << op << " of " << type << ", " << fill;
      }
}

TEST(Reduction, ReducesTwoTensorsTogether) {
  EXPECT_EQ(differs(R"((%a: tensor<5x8xf32>) -> (tensor<5xf32>, tensor<5xi32>) {
    %n = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %z = stablehlo.constant dense<0> : tensor<i32>
    %i = stablehlo.iota dim = 1 : tensor<5x8xi32>
    %0:2 = "stablehlo.reduce"(%a, %i, %n, %z) ({
    ^bb0(%x: tensor<f32>, %j: tensor<i32>, %y: tensor<f32>, %k: tensor<i32>):
      %c = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %v = stablehlo.select %c, %x, %y : tensor<i1>, tensor<f32>
      %w = stablehlo.select %c, %j, %k : tensor<i1>, tensor<i32>
      "stablehlo.return"(%v, %w) : (tensor<f32>, tensor<i32>) -> ()
    }) {dimensions = array<i64: 1>}
      : (tensor<5x8xf32>, tensor<5x8xi32>, tensor<f32>, tensor<i32>)
      -> (tensor<5xf32>, tensor<5xi32>)
    return %0#0, %0#1 : tensor<5xf32>, tensor<5xi32>
  })"),
            "");
}

static const char *softmax =
    R"((%x: tensor<ROWSx67xf32>, %s: tensor<ROWSx67xf32>) -> tensor<ROWSx67xf32> {
    %n = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %a = stablehlo.multiply %x, %s : tensor<ROWSx67xf32>
    %0 = stablehlo.reduce(%a init: %n) applies stablehlo.maximum across dimensions = [1]
        : (tensor<ROWSx67xf32>, tensor<f32>) -> tensor<ROWSxf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<ROWSxf32>) -> tensor<ROWSx67xf32>
    %2 = stablehlo.subtract %a, %1 : tensor<ROWSx67xf32>
    %3 = stablehlo.exponential %2 : tensor<ROWSx67xf32>
    %4 = stablehlo.reduce(%3 init: %z) applies stablehlo.add across dimensions = [1]
        : (tensor<ROWSx67xf32>, tensor<f32>) -> tensor<ROWSxf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<ROWSxf32>) -> tensor<ROWSx67xf32>
    %6 = stablehlo.divide %3, %5 : tensor<ROWSx67xf32>
    return %6 : tensor<ROWSx67xf32>
  })";

// What a scale that is known at run time only is made of: of a tensor as it is,
// and of the channels of a convolution, with and without some that nobody
// reads.
TEST(Reduction, FindsTheLeastAndTheGreatestOfAll) {
  for (const char *shape : {"37x", "5x64x", "2x16x7x9x", "2x21x7x9x"})
    for (bool isBlocked : {false, true}) {
      const std::string t = std::string("tensor<") + shape + "f32>",
                        channels = shape[2] == '2' ? "21" : "16";
      const int64_t rank = std::count(shape, shape + strlen(shape), 'x');
      if (isBlocked && rank != 4)
        continue;
      std::string dims = "0";
      for (int64_t dim = 1; dim < rank; ++dim)
        dims += ", " + std::to_string(dim);
      const std::string reduces = " across dimensions = [" + dims + "] : (" +
                                  t + ", tensor<f32>) -> tensor<f32>\n";
      const std::string kernel = "tensor<" + channels + "x32x3x3xf32>",
                        from = isBlocked ? "tensor<2x32x7x9xf32>" : t;
      const std::string x =
          isBlocked
              ? "%w = stablehlo.constant dense<0.01> : " + kernel +
                    "\n%a = stablehlo.convolution(%x, %w) dim_numbers = [b, f, "
                    "0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, "
                    "1], [1, 1]]} {batch_group_count = 1 : i64, "
                    "feature_group_count = 1 : i64} : (" +
                    from + ", " + kernel + ") -> " + t + "\n"
              : "%a = stablehlo.negate %x : " + t + "\n";
      const std::string body =
          "(%x: " + from + ") -> (tensor<f32>, tensor<f32>, tensor<f32>) {\n" +
          x +
          "%i = stablehlo.constant dense<0x7F800000> : tensor<f32>\n"
          "%j = stablehlo.constant dense<0xFF800000> : tensor<f32>\n"
          "%l = stablehlo.reduce(%a init: %i) applies stablehlo.minimum" +
          reduces +
          "%g = stablehlo.reduce(%a init: %j) applies stablehlo.maximum" +
          reduces +
          "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
          "%m = stablehlo.minimum %l, %z : tensor<f32>\n"
          "%d = stablehlo.subtract %g, %m : tensor<f32>\n"
          "return %l, %g, %d : tensor<f32>, tensor<f32>, tensor<f32>\n}";
      EXPECT_EQ(differs(body), "") << body;
    }
}

TEST(Reduction, ComputesSoftmaxByRows) {
  for (const char *rows : {"1", "5", "300"}) {
    std::string text = softmax;
    for (size_t at; (at = text.find("ROWS")) != std::string::npos;)
      text.replace(at, 4, rows);
    EXPECT_EQ(differs(text), "") << rows;
  }
}

TEST(Reduction, ComputesLayerNormByRows) {
  EXPECT_EQ(differs(R"((%x: tensor<2x9x48xf32>, %g: tensor<48xf32>)
      -> tensor<2x9x48xf32> {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %n = stablehlo.constant dense<48.0> : tensor<2x9x1xf32>
    %e = stablehlo.constant dense<1.0e-5> : tensor<2x9x1xf32>
    %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [2]
        : (tensor<2x9x48xf32>, tensor<f32>) -> tensor<2x9xf32>
    %1 = stablehlo.reshape %0 : (tensor<2x9xf32>) -> tensor<2x9x1xf32>
    %2 = stablehlo.divide %1, %n : tensor<2x9x1xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2] : (tensor<2x9x1xf32>) -> tensor<2x9x48xf32>
    %4 = stablehlo.subtract %x, %3 : tensor<2x9x48xf32>
    %5 = stablehlo.multiply %4, %4 : tensor<2x9x48xf32>
    %6 = stablehlo.reduce(%5 init: %z) applies stablehlo.add across dimensions = [2]
        : (tensor<2x9x48xf32>, tensor<f32>) -> tensor<2x9xf32>
    %7 = stablehlo.reshape %6 : (tensor<2x9xf32>) -> tensor<2x9x1xf32>
    %8 = stablehlo.divide %7, %n : tensor<2x9x1xf32>
    %9 = stablehlo.add %8, %e : tensor<2x9x1xf32>
    %10 = stablehlo.sqrt %9 : tensor<2x9x1xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2] : (tensor<2x9x1xf32>) -> tensor<2x9x48xf32>
    %12 = stablehlo.divide %4, %11 : tensor<2x9x48xf32>
    %13 = stablehlo.broadcast_in_dim %g, dims = [2] : (tensor<48xf32>) -> tensor<2x9x48xf32>
    %14 = stablehlo.multiply %12, %13 : tensor<2x9x48xf32>
    return %14 : tensor<2x9x48xf32>
  })"),
            "");
}

TEST(Reduction, LayerNormIsOneKernel) {
  const char *forms[] = {
      // As nn.layer_norm is decomposed
      R"((%x: tensor<9x48xf32>, %g: tensor<48xf32>, %b: tensor<48xf32>)
      -> tensor<9x48xf32> {
    %y, %m, %i = nn.layer_norm %x, %g, %b axis = 1 {compute_type = f32, epsilon = 1.0e-5 : f64}
        : (tensor<9x48xf32>, tensor<48xf32>, tensor<48xf32>)
        -> (tensor<9x48xf32>, tensor<9x1xf32>, tensor<9x1xf32>)
    return %y : tensor<9x48xf32>
  })",
      // As flax spells it, with the mean of squares
      R"((%x: tensor<9x48xf32>) -> tensor<9x48xf32> {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %n = stablehlo.constant dense<48.0> : tensor<9xf32>
    %e = stablehlo.constant dense<1.0e-5> : tensor<9x1xf32>
    %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1]
        : (tensor<9x48xf32>, tensor<f32>) -> tensor<9xf32>
    %m = stablehlo.divide %s, %n : tensor<9xf32>
    %q = stablehlo.multiply %x, %x : tensor<9x48xf32>
    %t = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [1]
        : (tensor<9x48xf32>, tensor<f32>) -> tensor<9xf32>
    %u = stablehlo.divide %t, %n : tensor<9xf32>
    %mm = stablehlo.multiply %m, %m : tensor<9xf32>
    %v = stablehlo.subtract %u, %mm : tensor<9xf32>
    %vk = stablehlo.reshape %v : (tensor<9xf32>) -> tensor<9x1xf32>
    %ve = stablehlo.add %vk, %e : tensor<9x1xf32>
    %i = stablehlo.rsqrt %ve : tensor<9x1xf32>
    %mw = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<9xf32>) -> tensor<9x48xf32>
    %c = stablehlo.subtract %x, %mw : tensor<9x48xf32>
    %iw = stablehlo.broadcast_in_dim %i, dims = [0, 1] : (tensor<9x1xf32>) -> tensor<9x48xf32>
    %y = stablehlo.multiply %c, %iw : tensor<9x48xf32>
    return %y : tensor<9x48xf32>
  })"};
  for (const char *text : forms) {
    EXPECT_EQ(differs(text, {1e-5, 1e-4}), "");
    auto program = sinter::cpu::compileForCpu(parseModel(text), {});
    ASSERT_TRUE(program) << program.error().message();
    EXPECT_EQ(program->steps.size(), 1u) << text;
  }
}

TEST(Reduction, ReadsRowsThroughATranspose) {
  EXPECT_EQ(differs(R"((%x: tensor<12x9xf32>) -> tensor<9x12xf32> {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.exponential %x : tensor<12x9xf32>
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<12x9xf32>) -> tensor<9x12xf32>
    %2 = stablehlo.reduce(%1 init: %z) applies stablehlo.add across dimensions = [1]
        : (tensor<9x12xf32>, tensor<f32>) -> tensor<9xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<9xf32>) -> tensor<9x12xf32>
    %4 = stablehlo.divide %1, %3 : tensor<9x12xf32>
    return %4 : tensor<9x12xf32>
  })"),
            "");
}

TEST(Reduction, SlidesWindows) {
  EXPECT_EQ(differs(R"((%x: tensor<1x2x9x9xf32>) -> tensor<1x2x5x5xf32> {
    %n = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = "stablehlo.reduce_window"(%x, %n) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %m = stablehlo.maximum %a, %b : tensor<f32>
      "stablehlo.return"(%m) : (tensor<f32>) -> ()
    }) {window_dimensions = array<i64: 1, 1, 3, 3>,
        window_strides = array<i64: 1, 1, 2, 2>,
        padding = dense<[[0, 0], [0, 0], [1, 1], [1, 1]]> : tensor<4x2xi64>}
      : (tensor<1x2x9x9xf32>, tensor<f32>) -> tensor<1x2x5x5xf32>
    return %0 : tensor<1x2x5x5xf32>
  })"),
            "");
}

TEST(Reduction, MultipliesMatrices) {
  EXPECT_EQ(
      differs(
          R"((%a: tensor<3x17x20xf32>, %b: tensor<3x20x9xf32>, %c: tensor<3x17x9xf32>)
      -> tensor<3x17x9xf32> {
    %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1]
        : (tensor<3x17x20xf32>, tensor<3x20x9xf32>) -> tensor<3x17x9xf32>
    %1 = stablehlo.add %0, %c : tensor<3x17x9xf32>
    return %1 : tensor<3x17x9xf32>
  })",
          {1e-4, 1e-5}),
      "");
}

TEST(Reduction, Convolves) {
  struct {
    const char *window, *extra, *input, *kernel, *output;
  } cases[] = {
      {"stride = [2, 1], pad = [[1, 1], [0, 2]]", "1", "2x4x9x8", "6x4x3x3",
       "2x6x5x8"},
      {"lhs_dilate = [2, 2], rhs_dilate = [1, 2], pad = [[1, 1], [1, 1]]", "2",
       "1x4x5x6", "4x2x3x2", "1x4x9x11"},
  };
  for (auto &c : cases) {
    auto t = [](std::string s) { return "tensor<" + s + "xf32>"; };
    EXPECT_EQ(
        differs("(%x: " + t(c.input) + ", %k: " + t(c.kernel) + ") -> " +
                    t(c.output) +
                    " {\n %0 = stablehlo.convolution(%x, %k) dim_numbers = "
                    "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {" +
                    c.window +
                    "} {batch_group_count = 1 : i64, "
                    "feature_group_count = " +
                    c.extra + " : i64} : (" + t(c.input) + ", " + t(c.kernel) +
                    ") -> " + t(c.output) + "\n return %0 : " + t(c.output) +
                    "\n}",
                {1e-4, 1e-5}),
        "");
  }
}
