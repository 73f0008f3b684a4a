// What is computed on the results of a product reads other tensors, the
// product's own operands among them.

#include "backend/cpu/CompareWithInterpreter.h"
#include "llvm/Support/FormatVariadic.h"
#include <gtest/gtest.h>

namespace sinter::test {
namespace {

std::string numbers(int64_t count) {
  std::string text;
  for (int64_t i = 0; i < count; ++i)
    text += (i ? ", " : "") +
            llvm::formatv("{0:F3}", (i * 37 % 23) / 7. - 1.5).str();
  return text;
}

/// A constant tensor of \p shape ("3x5") with as many numbers.
std::string weight(const std::string &shape, int64_t count) {
  return "%f = stablehlo.constant dense<[" + numbers(count) + "]> : tensor<" +
         std::to_string(count) + "xf32>\n%w = stablehlo.reshape %f : (tensor<" +
         std::to_string(count) + "xf32>) -> tensor<" + shape + "xf32>\n";
}

/// A map whose region sorts has no vectors: it is no part of an epilogue.
TEST(Epilogue, MapsByARegionWithControlFlow) {
  for (int64_t columns : {1, 5, 16, 37}) {
    std::string w = "tensor<4x" + std::to_string(columns) + "xf32>";
    std::string result = "tensor<3x" + std::to_string(columns) + "xf32>";
    EXPECT_EQ(differs("(%x: tensor<3x4xf32>, %w: " + w + ", %b: " + result +
                      ") -> " + result +
                      " {\n%d = stablehlo.dot %x, %w : (tensor<3x4xf32>, " + w +
                      ") -> " + result + "\n%r = \"stablehlo.map\"(%d, %b) ({" +
                      R"(
        ^bb0(%p: tensor<f32>, %q: tensor<f32>):
          %i = stablehlo.reshape %p : (tensor<f32>) -> tensor<1xf32>
          %j = stablehlo.reshape %q : (tensor<f32>) -> tensor<1xf32>
          %c = stablehlo.concatenate %i, %j, dim = 0
              : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
          %s = "stablehlo.sort"(%c) ({
            ^bb0(%l: tensor<f32>, %g: tensor<f32>):
              %o = stablehlo.compare LT, %l, %g : (tensor<f32>, tensor<f32>) -> tensor<i1>
              stablehlo.return %o : tensor<i1>
          }) {dimension = 0 : i64} : (tensor<2xf32>) -> tensor<2xf32>
          %t = stablehlo.slice %s [1:2] : (tensor<2xf32>) -> tensor<1xf32>
          %u = stablehlo.reshape %t : (tensor<1xf32>) -> tensor<f32>
          stablehlo.return %u : tensor<f32>
        }) {dimensions = array<i64: 0, 1>} : ()" +
                      result + ", " + result + ") -> " + result +
                      "\nreturn %r : " + result + " }"),
              "")
        << columns;
  }
}

/// Nor have complex numbers.
TEST(Epilogue, ComputesComplexNumbers) {
  for (int64_t columns : {1, 5, 16, 37}) {
    std::string sizes = std::to_string(columns) + "x";
    std::string w = "tensor<4x" + sizes + "f32>";
    std::string result = "tensor<3x" + sizes + "f32>";
    std::string complex = "tensor<3x" + sizes + "complex<f32>>";
    EXPECT_EQ(
        differs("(%x: tensor<3x4xf32>, %w: " + w + ", %b: " + result + ") -> " +
                result + " {\n%d = stablehlo.dot %x, %w : (tensor<3x4xf32>, " +
                w + ") -> " + result + "\n%c = stablehlo.complex %d, %b : " +
                complex + "\n%m = stablehlo.multiply %c, %c : " + complex +
                "\n%r = stablehlo.real %m : (" + complex + ") -> " + result +
                "\nreturn %r : " + result + " }"),
        "")
        << columns;
  }
}

/// The weights of a product are packed; who reads them beside it wants them as
/// they are.
TEST(Epilogue, ReadsTheWeights) {
  for (auto [rows, columns] : {std::pair{3, 2}, {16, 16}, {40, 40}, {33, 65}}) {
    std::string w = std::to_string(rows) + "x" + std::to_string(columns);
    std::string square = std::to_string(rows) + "x" + std::to_string(rows);
    for (const char *operation :
         {"maximum %w, %d", "subtract %w, %d", "multiply %d, %w"})
      EXPECT_EQ(differs("(%x: tensor<" + square + "xf32>) -> tensor<" + w +
                        "xf32> {\n" + weight(w, rows * columns) +
                        "%d = stablehlo.dot %x, %w : (tensor<" + square +
                        "xf32>, tensor<" + w + "xf32>) -> tensor<" + w +
                        "xf32>\n%r = stablehlo." + operation + " : tensor<" +
                        w + "xf32>\nreturn %r : tensor<" + w + "xf32> }"),
                "")
          << w << " " << operation;
  }
}

/// Weights of one number are a constant inside of the kernel for all but the
/// product.
TEST(Epilogue, ReadsWeightsOfOneNumber) {
  EXPECT_EQ(differs(R"((%x: tensor<3x3xf32>) -> tensor<3x2xf32> {
%w = stablehlo.constant dense<0.5> : tensor<3x2xf32>
%d = stablehlo.dot %x, %w : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
%r = stablehlo.maximum %w, %d : tensor<3x2xf32>
return %r : tensor<3x2xf32> })"),
            "");
}

/// Both operands are the same weights.
TEST(Epilogue, ProductOfWeightsWithThemselves) {
  std::string w = weight("24x24", 576);
  EXPECT_EQ(
      differs(
          "(%x: tensor<24x24xf32>) -> tensor<24x24xf32> {\n" + w +
          R"(%d = stablehlo.dot %w, %w : (tensor<24x24xf32>, tensor<24x24xf32>) -> tensor<24x24xf32>
%s = stablehlo.add %d, %x : tensor<24x24xf32>
%r = stablehlo.add %s, %w : tensor<24x24xf32>
return %r : tensor<24x24xf32> })"),
      "");
}

/// Of a convolution over one place with one image the result has the form of
/// the weights.
TEST(Epilogue, ReadsTheWeightsOfAConvolution) {
  for (int64_t channels : {4, 16, 48}) {
    std::string n = std::to_string(channels), t = n + "x" + n + "x1x1";
    EXPECT_EQ(
        differs("(%x: tensor<" + t + "xf32>) -> tensor<" + t + "xf32> {\n" +
                weight(t, channels * channels) +
                "%d = stablehlo.convolution(%x, %w) dim_numbers = "
                "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} "
                "{batch_group_count = 1 : i64, feature_group_count = 1 : i64}"
                " : (tensor<" +
                t + "xf32>, tensor<" + t + "xf32>) -> tensor<" + t +
                "xf32>\n%r = stablehlo.maximum %d, %w : tensor<" + t +
                "xf32>\nreturn %r : tensor<" + t + "xf32> }"),
        "")
        << t;
  }
}

} // namespace
} // namespace sinter::test
