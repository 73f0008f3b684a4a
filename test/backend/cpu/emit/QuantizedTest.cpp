//===- QuantizedTest.cpp - products of quantised tensors ------------------===//
//
// With zero points on both sides, per tensor and per axis, in any layout: as
// they are given, and as the commands hand them over, after all passes; and
// what stands between them.
//
//===----------------------------------------------------------------------===//
//
// Covers: backend/cpu/emit TaskMinMax ElementalLookup
// Covers: backend/cpu/quantized TabulateInt8
// Covers: graph QuantizedProducts
// Covers: graph/nn Pools
// Covers: interpreter Quantized
// Covers: passes DivideByScale LowerQuantized

#include "backend/cpu/CompareWithInterpreter.h"
#include "backend/cpu/target/Target.h"

#include "runtime/ProgramExecutor.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::test;

namespace {

const std::string left = "!quant.uniform<i8:f32, 0.25:3>",
                  right = "!quant.uniform<i8:f32, 0.5:-5>",
                  wide = "!quant.uniform<i32:f32, 0.125:1>";

std::string perAxis(const std::string &storage, int axis, bool hasZeroPoints) {
  return "!quant.uniform<" + storage + ":f32:" + std::to_string(axis) +
         (hasZeroPoints ? ", {0.5:1, 0.25:-2, 0.125:7}>"
                        : ", {0.5, 0.25, 0.125}>");
}

std::string tensor(const std::string &shape, const std::string &element) {
  return "tensor<" + shape + element + ">";
}

/// An operation on %a and %b, or on %a alone; to the bit.
void agrees(const std::string &op, const std::string &a, const std::string &b,
            const std::string &result) {
  const std::string types = b.empty() ? a : a + ", " + b;
  const std::string body = "(%a: " + a + (b.empty() ? "" : ", %b: " + b) +
                           ") -> " + result + " {\n  %0 = stablehlo." + op +
                           " : (" + types + ") -> " + result +
                           "\n  return %0 : " + result + "\n}";
  EXPECT_EQ(differs(body, {0, 0}), "") << body;
  EXPECT_EQ(differsRaised(body, {0, 0}), "") << body;
}

TEST(QuantizedProducts, DotsOfAnyZeroPoints) {
  const std::string a = tensor("4x5x", left);
  for (const std::string &element :
       {right, std::string("!quant.uniform<i8:f32, 0.5>"),
        perAxis("i8", 1, true), perAxis("i8", 1, false)})
    for (const std::string &out : {wide, left})
      agrees("dot %a, %b", a, tensor("5x3x", element), tensor("4x3x", out));
  // The scales are those of a dimension that is summed over.
  agrees("dot %a, %b", tensor("4x3x", left),
         tensor("3x2x", perAxis("i8", 0, true)), tensor("4x2x", wide));
  agrees("dot %a, %b", tensor("5x", left), tensor("5x", right),
         tensor("", wide));
}

TEST(QuantizedProducts, Einsums) {
  const std::string a = tensor("4x5x", left), b = tensor("5x3x", right);
  for (const auto &[config, shape] :
       {std::pair("ij,jk->ik", "4x3x"), std::pair("ij,jk->ki", "3x4x"),
        std::pair("ij,jk->k", "3x"), std::pair("ij,jk->", ""),
        std::pair("ij,jk->kij", "3x4x5x")}) {
    const std::string op =
        "einsum %a, %b, config = \"" + std::string(config) + "\"";
    agrees(op, a, b, tensor(shape, wide));
    agrees(op, a, b, tensor(shape, left));
  }
  for (const auto &[config, shape] :
       {std::pair("ij->j", "3x"), std::pair("ij->i", "5x"),
        std::pair("ij->", ""), std::pair("ij->ji", "3x5x")}) {
    const std::string op =
        "unary_einsum %a, config = \"" + std::string(config) + "\"";
    for (const std::string &element : {left, wide})
      agrees(op, tensor("5x3x", element), "", tensor(shape, wide));
  }
  agrees("unary_einsum %a, config = \"ii->i\"", tensor("3x3x", left), "",
         tensor("3x", left));
}

TEST(QuantizedProducts, ConvolutionsPerAxisInAnyLayout) {
  struct Layout {
    const char *numbers, *input, *kernel, *output;
    int kernelAxis, outputAxis;
  };
  for (const Layout &layout :
       {Layout{"[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", "1x4x4x2x",
               "2x2x2x3x", "1x5x5x3x", 3, 3},
        Layout{"[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]", "1x2x4x4x",
               "3x2x2x2x", "1x3x5x5x", 0, 1},
        Layout{"[0, b, f, 1]x[i, 0, o, 1]->[f, 0, b, 1]", "4x1x2x4x",
               "2x2x3x2x", "3x5x1x5x", 2, 0}}) {
    const std::string op =
        "convolution(%a, %b) dim_numbers = " + std::string(layout.numbers) +
        ", window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, "
        "feature_group_count = 1 : i64}";
    const std::string a = tensor(layout.input, left);
    for (bool hasZeroPoints : {false, true}) {
      const std::string b = tensor(
          layout.kernel, perAxis("i8", layout.kernelAxis, hasZeroPoints));
      agrees(op, a, b,
             tensor(layout.output, perAxis("i32", layout.outputAxis, false)));
      agrees(op, a, b, tensor(layout.output, left));
    }
  }
}

TEST(QuantizedProducts, WhatMovesTakesTheAxisAlong) {
  const std::string from = tensor("2x3x4x", perAxis("i8", 1, true)),
                    to = tensor("4x2x3x", perAxis("i8", 2, true));
  agrees("transpose %a, dims = [2, 0, 1]", from, "", to);
}

/// To the bit; the operation's name and attributes stand around %a.
TEST(QuantizedFunctions, ChangeTheScale) {
  const std::string from = tensor("5x7x", left);
  for (const char *op : {"relu %a", "leaky_relu %a {alpha = 0.1}",
                         "hard_swish %a", "thresholded_relu %a {alpha = 0.4}",
                         "shrink %a {bias = 0.3, lambda = 0.2}"})
    for (const char *out :
         {"!quant.uniform<i8:f32, 0.5:-5>", "!quant.uniform<i8:f32, 0.25>"}) {
      const std::string to = tensor("5x7x", out);
      const std::string body = "(%a: " + from + ") -> " + to +
                               " {\n  %0 = nn." + op + " : (" + from + ") -> " +
                               to + "\n  return %0 : " + to + "\n}";
      EXPECT_EQ(differs(body, {0, 0}), "") << body;
      EXPECT_EQ(differsRaised(body, {0, 0}), "") << body;
    }
}

TEST(QuantizedFunctions, PoolsChangeTheScale) {
  const std::string from = tensor("1x3x6x6x", left),
                    to = tensor("1x3x3x3x", right);
  for (const char *op : {"max_pool", "average_pool"}) {
    const std::string body =
        "(%a: " + from + ") -> " + to + " {\n  %0 = nn." + op +
        " %a, window = [2, 2] strides = [2, 2] {dilations = array<i64: 1, 1>, "
        "padding_low = array<i64: 0, 0>, padding_high = array<i64: 0, 0>" +
        (op[0] == 'a' ? ", count_padding = false" : "") + "} : (" + from +
        ") -> " + to + "\n  return %0 : " + to + "\n}";
    EXPECT_EQ(differs(body, {0, 0}), "") << body;
    EXPECT_EQ(differsRaised(body, {0, 0}), "") << body;
  }
}

TEST(QuantizedFunctions, QuantizeRoundsBeforeTheZeroPoint) {
  for (const auto &[from, to] :
       {std::pair("f32", "!quant.uniform<i8:f32, 0.125:3>"),
        std::pair("f32", "!quant.uniform<u8:f32, 0.01:129>"),
        std::pair("f32", "!quant.uniform<i4:f32, 0.5:1>"),
        std::pair("f32", "!quant.uniform<u16:f32, 0.001:777>"),
        std::pair("f16", "!quant.uniform<i8:f16, 0.125:3>"),
        std::pair("bf16", "!quant.uniform<u8:bf16, 0.125:3>"),
        std::pair("f32", "!quant.uniform<i8:f32:1, {0.5:1, 0.25:-2, 0.1}>"),
        std::pair("!quant.uniform<i8:f32, 0.25:3>",
                  "!quant.uniform<u8:f32, 0.5:5>")}) {
    const std::string a = tensor("50x3x", from), b = tensor("50x3x", to);
    const std::string body = "(%a: " + a + ") -> " + b +
                             " {\n  %0 = nn.quantize %a : (" + a + ") -> " + b +
                             "\n  return %0 : " + b + "\n}";
    EXPECT_EQ(differs(body, {0, 0}), "") << body;
    EXPECT_EQ(differsRaised(body, {0, 0}), "") << body;
  }
}

/// What compiled \p op gives for \p input; \p storage and \p zero are of the
/// result, whose scale is 1.
Tensor quantizedTo(const std::string &op, const std::string &storage, int zero,
                   const Tensor &input) {
  const std::string from = tensor(std::to_string(input.size()) + "x", "f32"),
                    to = tensor(std::to_string(input.size()) + "x",
                                "!quant.uniform<" + storage +
                                    ":f32, 1.0:" + std::to_string(zero) + ">");
  auto program = compileRaised("(%a: " + from + ") -> " + to +
                               " {\n  %0 = " + op + " %a : (" + from + ") -> " +
                               to + "\n  return %0 : " + to + "\n}");
  EXPECT_TRUE(program) << (program ? "" : program.error().message());
  auto executor =
      ProgramExecutor::create(std::make_shared<Program>(std::move(*program)),
                              std::make_shared<ThreadPool>(1));
  EXPECT_TRUE(executor);
  const Tensor inputs[] = {input};
  auto outputs = (*executor)->run(inputs);
  EXPECT_TRUE(outputs) << (outputs ? "" : outputs.error().message());
  return std::move(outputs->front());
}

/// Numbers next to the middles of integers, which a sum with a zero point
/// moves there.
TEST(QuantizedFunctions, BothWaysToRoundAreOneBesideEvenZeroPoints) {
  Tensor input(ElementType::F32, {600});
  for (int64_t i = 0; i < input.size(); ++i) {
    const auto middle = static_cast<float>(i / 3 - 100) + 0.5f;
    const float ends[] = {std::nextafterf(middle, -1000), middle,
                          std::nextafterf(middle, 1000)};
    input.set<float>(i, ends[i % 3]);
  }
  for (const auto &[storage, zero] :
       {std::pair("i8", -128), std::pair("i8", 2), std::pair("i8", -64),
        std::pair("u8", 128), std::pair("u8", 0), std::pair("u8", 254),
        std::pair("i16", 1000), std::pair("u16", 40000)}) {
    const Tensor stablehlo = quantizedTo("stablehlo.uniform_quantize", storage,
                                         zero, input),
                 onnx = quantizedTo("nn.quantize", storage, zero, input);
    const int64_t least = storage[0] == 'u'   ? 0
                          : storage[1] == '8' ? -128
                                              : -32768;
    for (int64_t i = 0; i < input.size(); ++i) {
      ASSERT_EQ(stablehlo.toInteger(i), onnx.toInteger(i))
          << storage << ":" << zero << " of " << input.toDouble(i);
      // Exactly, where it is in range.
      const auto exact =
          static_cast<int64_t>(std::nearbyint(input.toDouble(i))) + zero;
      if (exact >= least && exact <= least + (storage[1] == '8' ? 255 : 65535))
        ASSERT_EQ(onnx.toInteger(i), exact);
    }
  }
}

//===----------------------------------------------------------------------===//
// Between convolutions, in blocks of channels
//===----------------------------------------------------------------------===//

/// `%NAME`, a convolution of `%a` by weights of all signed bytes, which has
/// \p channels channels of \p type.
std::string convolved(const std::string &name, const std::string &from,
                      int channels, const std::string &type) {
  const std::string count = std::to_string(channels),
                    size = std::to_string(channels * 5),
                    weight = count + "x5x1x1x", w = "%" + name + "w";
  const std::string quantized = "!quant.uniform<i8:f32, 0.0078125>";
  return w + "i = stablehlo.iota dim = 0 : tensor<" + size + "xi32>\n" + w +
         "p = stablehlo.constant dense<37> : tensor<" + size + "xi32>\n" + w +
         "m = stablehlo.multiply " + w + "i, " + w + "p : tensor<" + size +
         "xi32>\n" + w + "r = stablehlo.reshape " + w + "m : (tensor<" + size +
         "xi32>) -> tensor<" + weight + "i32>\n" + w +
         "n = stablehlo.convert " + w + "r : (tensor<" + weight +
         "i32>) -> tensor<" + weight + "i8>\n" + w +
         " = stablehlo.bitcast_convert " + w + "n : (tensor<" + weight +
         "i8>) -> tensor<" + weight + quantized + ">\n%" + name +
         " = stablehlo.convolution(%a, " + w +
         ") dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} "
         "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (" +
         from + ", tensor<" + weight + quantized + ">) -> tensor<2x" + count +
         "x9x9x" + type + ">\n";
}

/// On this machine, and on one of those that it is, too, in turn.
std::string differsAnywhere(const std::string &body, Tolerance tolerance) {
  static const std::vector<cpu::Target> lesser = lesserTargets();
  static size_t turn = 0;
  std::string what = differs(body, tolerance);
  if (!what.empty() || lesser.empty())
    return what;
  const cpu::Target &target = lesser[turn++ % lesser.size()];
  what = differs(body, tolerance, nullptr, target);
  return what.empty() ? what : target.cpu + ": " + what;
}

/// Types whose scales are powers of two, so that no sum is rounded: all
/// agrees to the bit.
const std::string bytes[] = {
    "!quant.uniform<u8:f32, 0.5:3>", "!quant.uniform<u8:f32, 0.25>",
    "!quant.uniform<i8:f32, 0.5:-128>", "!quant.uniform<i8:f32, 0.25:7>"};

/// Each of them to itself and to the other one of the same storage.
std::vector<std::pair<std::string, std::string>> scaleChanges() {
  std::vector<std::pair<std::string, std::string>> all;
  for (size_t i = 0; i < 4; ++i)
    for (size_t j : {i, i ^ 1})
      all.emplace_back(bytes[i], bytes[j]);
  return all;
}

TEST(QuantizedBlocks, Pools) {
  struct Pool {
    const char *op, *window, *strides, *low, *high, *more, *result;
  };
  const Pool pools[] = {
      {"max_pool", "3, 3", "2, 2", "1, 1", "1, 1", "", "5x5x"},
      {"max_pool", "3, 3", "1, 1", "1, 1", "1, 1", "", "9x9x"},
      {"max_pool", "2, 2", "2, 2", "0, 0", "0, 0", "", "4x4x"},
      // Windows that see nothing.
      {"max_pool", "2, 2", "1, 1", "3, 0", "0, 2", "", "11x10x"},
      {"average_pool", "2, 2", "2, 2", "0, 0", "0, 0",
       ", count_padding = false", "4x4x"},
      {"average_pool", "3, 3", "1, 1", "1, 1", "1, 1",
       ", count_padding = false", "9x9x"},
      {"average_pool", "3, 3", "2, 2", "1, 1", "1, 1", ", count_padding = true",
       "5x5x"},
      {"average_pool", "9, 9", "1, 1", "0, 0", "0, 0", ", count_padding = true",
       "1x1x"}};
  const std::string from = "tensor<2x5x9x9x!quant.uniform<i8:f32, 0.125:10>>";
  for (const Pool &pool : pools)
    for (int channels : {16, 21})
      for (const auto &[type, result] : scaleChanges()) {
        const std::string count = std::to_string(channels),
                          in = "tensor<2x" + count + "x9x9x" + type + ">",
                          out = "tensor<2x" + count + "x" + pool.result +
                                result + ">";
        const std::string body =
            "(%a: " + from + ") -> " + out + " {\n" +
            convolved("c", from, channels, type) + "%p = nn." + pool.op +
            " %c, window = [" + pool.window + "] strides = [" + pool.strides +
            "] {dilations = array<i64: 1, 1>, padding_low = array<i64: " +
            pool.low + ">, padding_high = array<i64: " + pool.high + ">" +
            pool.more + "} : (" + in + ") -> " + out + "\nreturn %p : " + out +
            "\n}";
        EXPECT_EQ(differsAnywhere(body, {0, 0}), "") << body;
      }
}

TEST(QuantizedBlocks, GreatestAndLeast) {
  const std::string from = "tensor<2x5x9x9x!quant.uniform<i8:f32, 0.125:10>>";
  for (const auto &[type, result] : scaleChanges())
    for (const char *op :
         {"maximum %c, %d", "minimum %c, %d", "clamp %d, %c, %d"}) {
      const std::string in = "tensor<2x21x9x9x" + type + ">",
                        out = "tensor<2x21x9x9x" + result + ">";
      const bool isClamp = op[0] == 'c';
      const std::string body = "(%a: " + from + ") -> " + out + " {\n" +
                               convolved("c", from, 21, type) +
                               convolved("d", from, 21, type) +
                               "%p = stablehlo." + op + " : (" + in + ", " +
                               in + (isClamp ? ", " + in : "") + ") -> " + out +
                               "\nreturn %p : " + out + "\n}";
      EXPECT_EQ(differsAnywhere(body, {0, 0}), "") << body;
    }
}

TEST(QuantizedBlocks, NearestPlaces) {
  const std::string from = "tensor<2x5x9x9x!quant.uniform<i8:f32, 0.125:10>>";
  for (const auto &[type, result] : scaleChanges())
    for (const char *coordinates : {"asymmetric", "tf_crop_and_resize"}) {
      const std::string in = "tensor<2x21x9x9x" + type + ">",
                        out = "tensor<2x21x18x13x" + result + ">";
      const bool isCropped = coordinates[0] == 't';
      const std::string body =
          "(%a: " + from + ") -> " + out + " {\n" +
          convolved("c", from, 21, type) +
          "%p = nn.resize %c, scales = [1.0, 1.0, 2.0, 1.5], \"nearest\", \"" +
          coordinates +
          "\", \"floor\" {exclude_outside = false, antialias = false, "
          "extrapolation_value = 7.5" +
          (isCropped ? ", roi = array<f64: 0.0, 0.0, -0.25, 0.25, 1.0, 1.0, "
                       "1.0, 1.25>"
                     : "") +
          "} : (" + in + ") -> " + out + "\nreturn %p : " + out + "\n}";
      EXPECT_EQ(differsAnywhere(body, {0, 0}), "") << body;
    }
}

/// Functions of one tensor of bytes, which are tables where the machine looks
/// up many at once: behind a convolution and by themselves, of sizes that are
/// no multiple of what is looked up at once.
TEST(QuantizedBlocks, Functions) {
  const std::string from = "tensor<2x5x9x9x!quant.uniform<i8:f32, 0.125:10>>";
  for (const auto &[type, result] : scaleChanges())
    for (const char *op : {"gelu %c {approximate = false}", "silu %c",
                           "hard_swish %c", "mish %c", "erf %c"})
      for (bool isBehind : {false, true}) {
        const std::string shape = isBehind ? "2x21x9x9x" : "7x47x";
        const std::string in = "tensor<" + shape + type + ">",
                          out = "tensor<" + shape + result + ">";
        const std::string body =
            (isBehind ? "(%a: " + from + ")" : "(%c: " + in + ")") + " -> " +
            out + " {\n" + (isBehind ? convolved("c", from, 21, type) : "") +
            "%p = nn." + op + " : (" + in + ") -> " + out +
            "\nreturn %p : " + out + "\n}";
        EXPECT_EQ(differsAnywhere(body, {0, 0}), "") << body;
      }
}

/// Rows, transposes and concatenates of what was looked up, and several
/// functions of the same bytes.
TEST(QuantizedBlocks, FunctionsAmongOthers) {
  const std::string type = "!quant.uniform<u8:f32, 0.03125:128>",
                    in = "tensor<20x70x" + type + ">", f = "tensor<20x70xf32>";
  const std::string body =
      "(%x: " + in + ") -> (tensor<20xf32>, tensor<70x20x" + type +
      ">, tensor<40x70x" + type + ">, " + in + ") {\n%g = nn.silu %x : " + in +
      "\n%t = stablehlo.tanh %g : " + in +
      "\n%z = stablehlo.constant dense<0.0> : tensor<f32>\n%d = "
      "stablehlo.uniform_dequantize %g : (" +
      in + ") -> " + f +
      "\n%s = stablehlo.reduce(%d init: %z) applies stablehlo.add across "
      "dimensions = [1] : (" +
      f +
      ", tensor<f32>) -> tensor<20xf32>\n%r = stablehlo.transpose %t, dims "
      "= [1, 0] : (" +
      in + ") -> tensor<70x20x" + type +
      ">\n%j = stablehlo.concatenate %t, %g, dim = 0 : (" + in + ", " + in +
      ") -> tensor<40x70x" + type +
      ">\n%m = stablehlo.multiply %x, %t : " + in +
      "\nreturn %s, %r, %j, %m : tensor<20xf32>, tensor<70x20x" + type +
      ">, tensor<40x70x" + type + ">, " + in + "\n}";
  EXPECT_EQ(differsAnywhere(body, {0, 1e-3}), "") << body;
}

/// Parts of scales of their own, of whole blocks and others, along each
/// dimension.
TEST(QuantizedBlocks, Concatenates) {
  const std::string from = "tensor<2x5x9x9x!quant.uniform<i8:f32, 0.125:10>>";
  const std::string bits[] = {"ui8", "ui8", "i8", "i8"};
  for (auto [first, second] : {std::pair{16, 32}, {32, 20}, {20, 16}, {20, 20}})
    for (int dim : {0, 1, 2, 3})
      for (size_t i = 0; i < 4; ++i) {
        if (dim != 1 && first != second)
          continue;
        const std::string &result = bytes[i];
        auto shape = [&](int channels) {
          return "2x" + std::to_string(channels) + "x9x9x";
        };
        auto part = [&](const std::string &name, int channels) {
          const std::string type =
              "!quant.uniform<u8:f32, 0.25:" + std::to_string(channels) + ">";
          return convolved(name, from, channels, type) + "%" + name +
                 "f = stablehlo.uniform_dequantize %" + name + " : (tensor<" +
                 shape(channels) + type + ">) -> tensor<" + shape(channels) +
                 "f32>\n";
        };
        const std::string sizes = dim == 0   ? "4x20x9x9x"
                                  : dim == 2 ? "2x20x18x9x"
                                  : dim == 3 ? "2x20x9x18x"
                                             : shape(first + second);
        const std::string out = "tensor<" + sizes + result + ">",
                          storage = "tensor<" + sizes + bits[i] + ">";
        const std::string body =
            "(%a: " + from + ") -> " + storage + " {\n" + part("c", first) +
            part("d", second) + "%j = stablehlo.concatenate %cf, %df, dim = " +
            std::to_string(dim) + " : (tensor<" + shape(first) +
            "f32>, tensor<" + shape(second) + "f32>) -> tensor<" + sizes +
            "f32>\n%q = nn.quantize %j : (tensor<" + sizes + "f32>) -> " + out +
            "\n%s = stablehlo.bitcast_convert %q : (" + out + ") -> " +
            storage + "\nreturn %s : " + storage + "\n}";
        EXPECT_EQ(differsRaised(body, {0, 0}), "") << body;
      }
}

/// Pools of storage elements, which are cast from quantised ones and back.
TEST(QuantizedBlocks, PoolsOfStorage) {
  const std::string from = "tensor<2x5x9x9x!quant.uniform<i8:f32, 0.125:10>>";
  const std::string type = bytes[0], in = "tensor<2x21x9x9xui8>",
                    out = "tensor<2x21x5x5xui8>";
  const std::string body =
      "(%a: " + from + ") -> " + out + " {\n" + convolved("c", from, 21, type) +
      "%s = stablehlo.bitcast_convert %c : (tensor<2x21x9x9x" + type +
      ">) -> " + in +
      "\n%p = nn.max_pool %s, window = [3, 3] strides = [2, 2] {dilations = "
      "array<i64: 1, 1>, padding_low = array<i64: 1, 1>, padding_high = "
      "array<i64: 1, 1>} : (" +
      in + ") -> " + out + "\nreturn %p : " + out + "\n}";
  EXPECT_EQ(differsAnywhere(body, {0, 0}), "") << body;
}

//===----------------------------------------------------------------------===//
// Scales that are known at run time
//===----------------------------------------------------------------------===//

/// `%NAME`, clamp(0, round(\p x) + z, 255) as bytes.
std::string quantizedBytes(const std::string &name, const std::string &x,
                           const std::string &type, const std::string &bytes) {
  const std::string n = "%" + name;
  return n + "r = stablehlo.round_nearest_even " + x + " : " + type + "\n" + n +
         "a = stablehlo.add " + n + "r, %zb : " + type + "\n" + n +
         "c = stablehlo.clamp %l, " + n + "a, %m : (tensor<f32>, " + type +
         ", tensor<f32>) -> " + type + "\n" + n + " = stablehlo.convert " + n +
         "c : (" + type + ") -> " + bytes + "\n";
}

/// Zero points that are known at run time, of any integer type, beside middles
/// of integers and what is none.
TEST(QuantizedFunctions, ZeroPointsOfRunTime) {
  for (const std::string zero : {"ui8", "i8", "ui16", "i16", "i32"})
    for (int length : {1, 13, 600}) {
      std::string numbers;
      const char *const special[] = {"0.5",        "1.5",        "-0.5",
                                     "254.5",      "-127.5",     "0x7FC00000",
                                     "0x7F800000", "0xFF800000", "1.0e30",
                                     "-1.0e30",    "-1.5",       "0.49999997"};
      for (int i = 0; i < length; ++i)
        numbers += (i ? ", " : "") + std::string(special[i % 12]);
      const std::string t = "tensor<" + std::to_string(length) + "xf32>",
                        bytes = "tensor<" + std::to_string(length) + "xui8>";
      const std::string body =
          "(%a: " + t + ", %s: tensor<f32>, %z: tensor<" + zero + ">) -> (" +
          bytes + ", " + bytes + ") {\n%n = stablehlo.constant dense<[" +
          numbers + "]> : " + t +
          "\n%o = stablehlo.constant dense<0.0> : " + t +
          "\n%l = stablehlo.constant dense<0.0> : tensor<f32>\n"
          "%m = stablehlo.constant dense<255.0> : tensor<f32>\n"
          "%p = stablehlo.multiply %a, %o : " +
          t + "\n%x = stablehlo.add %p, %n : " + t +
          "\n%sb = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) "
          "-> " +
          t + "\n%d = stablehlo.divide %a, %sb : " + t +
          "\n%zf = stablehlo.convert %z : (tensor<" + zero +
          ">) -> tensor<f32>\n"
          "%zb = stablehlo.broadcast_in_dim %zf, dims = [] : (tensor<f32>) "
          "-> " +
          t + "\n" + quantizedBytes("u", "%x", t, bytes) +
          quantizedBytes("v", "%d", t, bytes) + "return %u, %v : " + bytes +
          ", " + bytes + "\n}";
      EXPECT_EQ(differsAnywhere(body, {0, 0}), "") << body;
    }
}

/// The greatest and the least number of a tensor in blocks, where what lies
/// beyond the last channel is greater and less than all that counts; in either
/// order, alone, and where there are NaN.
TEST(QuantizedBlocks, Ranges) {
  for (int channels : {16, 20, 37})
    for (const char *shift : {"-1000.0", "1000.0", "0.0", "0x7FC00000"})
      for (int which : {0, 1, 2, 3}) {
        const std::string count = std::to_string(channels),
                          in = "tensor<2x" + count + "x9x9xf32>",
                          weights = "tensor<" + count + "x5x1x1xf32>";
        auto reduced = [&](const std::string &op, const std::string &init) {
          const std::string name = "%" + op;
          return name + "i = stablehlo.constant dense<" + init +
                 "> : tensor<f32>\n" + name +
                 " = stablehlo.reduce(%x init: " + name +
                 "i) applies stablehlo." + op +
                 "imum across dimensions = [0, 1, 2, 3] : (" + in +
                 ", tensor<f32>) -> tensor<f32>\n" + name +
                 "u = stablehlo.add " + name + ", " + name + " : tensor<f32>\n";
        };
        const std::string max = reduced("max", "0xFF800000"),
                          min = reduced("min", "0x7F800000");
        const bool hasBoth = which < 2;
        const std::string result = which == 3 ? "%minu" : "%maxu",
                          other = hasBoth ? "%minu" : result;
        const std::string body =
            "(%a: tensor<2x5x9x9xf32>) -> (tensor<f32>, tensor<f32>, " + in +
            ") {\n%w = stablehlo.constant dense<0.5> : " + weights +
            "\n%b = stablehlo.constant dense<" + shift + "> : tensor<" + count +
            "xf32>\n%c = stablehlo.convolution(%a, %w) dim_numbers = [b, f, "
            "0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count "
            "= 1 : i64, feature_group_count = 1 : i64} : "
            "(tensor<2x5x9x9xf32>, " +
            weights + ") -> " + in +
            "\n%s = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<" +
            count + "xf32>) -> " + in + "\n%x = stablehlo.add %c, %s : " + in +
            "\n" +
            (which == 0   ? max + min
             : which == 1 ? min + max
             : which == 2 ? max
                          : min) +
            "return " + result + ", " + other +
            ", %x : tensor<f32>, "
            "tensor<f32>, " +
            in + "\n}";
        EXPECT_EQ(differsAnywhere(body, {}), "") << body;
      }
}

/// MinMax that tasks of a convolution leave: of each kernel, of whole blocks
/// of channels and others, with all signs and with NaN, beside what is stored.
TEST(QuantizedBlocks, MinMaxOfTasks) {
  struct Layer {
    int channels, groups, window, stride;
  };
  for (const Layer &layer :
       {Layer{16, 1, 1, 1}, Layer{32, 1, 3, 2}, Layer{32, 32, 3, 1},
        Layer{48, 48, 3, 2}, Layer{20, 1, 1, 1}, Layer{20, 20, 3, 1}})
    for (const char *shift : {"0.0", "5.0", "-5.0", "0x7FC00000"})
      for (int images : {1, 3}) {
        const int inputs = layer.channels, side = layer.window == 1 ? 11 : 13,
                  outside = layer.window / 2,
                  result =
                      (side + 2 * outside - layer.window) / layer.stride + 1;
        auto shape = [&](int channels, int size) {
          return "tensor<" + std::to_string(images) + "x" +
                 std::to_string(channels) + "x" + std::to_string(size) + "x" +
                 std::to_string(size) + "xf32>";
        };
        const std::string in = shape(inputs, side),
                          out = shape(layer.channels, result),
                          window = std::to_string(layer.window),
                          count = std::to_string(layer.channels),
                          weights = "tensor<" + count + "x" +
                                    std::to_string(inputs / layer.groups) +
                                    "x" + window + "x" + window + "xf32>",
                          pad = std::to_string(outside),
                          stride = std::to_string(layer.stride);
        std::string numbers;
        for (int i = 0; i < layer.channels; ++i)
          numbers += (i ? ", " : "") +
                     std::string(i == layer.channels / 2 ? shift : "0.25");
        auto reduced = [&](const std::string &op, const std::string &init) {
          return "%" + op + "i = stablehlo.constant dense<" + init +
                 "> : tensor<f32>\n%" + op + " = stablehlo.reduce(%x init: %" +
                 op + "i) applies stablehlo." + op +
                 "imum across dimensions = [0, 1, 2, 3] : (" + out +
                 ", tensor<f32>) -> tensor<f32>\n";
        };
        const std::string body =
            "(%a: " + in + ") -> (tensor<f32>, tensor<f32>, " + out +
            ") {\n%w = stablehlo.constant dense<0.125> : " + weights +
            "\n%b = stablehlo.constant dense<[" + numbers + "]> : tensor<" +
            count +
            "xf32>\n%c = stablehlo.convolution(%a, %w) dim_numbers = "
            "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [" +
            stride + ", " + stride + "], pad = [[" + pad + ", " + pad + "], [" +
            pad + ", " + pad +
            "]]} {batch_group_count = 1 : i64, feature_group_count = " +
            std::to_string(layer.groups) + " : i64} : (" + in + ", " + weights +
            ") -> " + out +
            "\n%s = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<" +
            count + "xf32>) -> " + out +
            "\n%x = stablehlo.add %c, %s : " + out + "\n" +
            reduced("max", "0xFF800000") + reduced("min", "0x7F800000") +
            "return %max, %min, %x : tensor<f32>, tensor<f32>, " + out + "\n}";
        // Sums are of up to 288 products of an eighth.
        EXPECT_EQ(differsAnywhere(body, {2e-5, 5e-6}), "") << body;
      }
}

/// What DynamicQuantizeLinear and ConvInteger are, one after the other.
TEST(QuantizedBlocks, DynamicConvolutions) {
  auto quantised = [](const std::string &x, const std::string &name,
                      const std::string &shape) {
    const std::string t = "tensor<" + shape + "f32>", s = "tensor<f32>",
                      n = "%" + name;
    std::string text;
    auto line = [&](const std::string &each) { text += each + "\n"; };
    line(n + "lo = stablehlo.constant dense<0x7F800000> : " + s);
    line(n + "hi = stablehlo.constant dense<0xFF800000> : " + s);
    line(n + "o = stablehlo.constant dense<0.0> : " + s);
    line(n + "m = stablehlo.constant dense<255.0> : " + s);
    for (const std::string op : {"min", "max"}) {
      line(n + op + "r = stablehlo.reduce(" + x + " init: " + n +
           (op == "min" ? "lo" : "hi") + ") applies stablehlo." + op +
           "imum across dimensions = [0, 1, 2, 3] : (" + t + ", " + s +
           ") -> " + s);
      line(n + op + " = stablehlo." + op + "imum " + n + op + "r, " + n +
           "o : " + s);
    }
    line(n + "d = stablehlo.subtract " + n + "max, " + n + "min : " + s);
    line(n + "s = stablehlo.divide " + n + "d, " + n + "m : " + s);
    line(n + "g = stablehlo.subtract " + n + "o, " + n + "min : " + s);
    line(n + "q = stablehlo.divide " + n + "g, " + n + "s : " + s);
    line(n + "c = stablehlo.clamp " + n + "o, " + n + "q, " + n + "m : " + s);
    line(n + "z = stablehlo.round_nearest_even " + n + "c : " + s);
    line(n + "y = stablehlo.convert " + n + "z : (" + s + ") -> tensor<ui8>");
    line(n + "sb = stablehlo.broadcast_in_dim " + n + "s, dims = [] : (" + s +
         ") -> " + t);
    line(n + "v = stablehlo.divide " + x + ", " + n + "sb : " + t);
    line(n + "r = stablehlo.round_nearest_even " + n + "v : " + t);
    line(n + "zf = stablehlo.convert " + n + "y : (tensor<ui8>) -> " + s);
    line(n + "zb = stablehlo.broadcast_in_dim " + n + "zf, dims = [] : (" + s +
         ") -> " + t);
    line(n + "a = stablehlo.add " + n + "r, " + n + "zb : " + t);
    line(n + "e = stablehlo.clamp " + n + "o, " + n + "a, " + n + "m : (" + s +
         ", " + t + ", " + s + ") -> " + t);
    line(n + "b = stablehlo.convert " + n + "e : (" + t + ") -> tensor<" +
         shape + "ui8>");
    line(n + "w = stablehlo.convert " + n + "b : (tensor<" + shape +
         "ui8>) -> tensor<" + shape + "i32>");
    line(n + "yi = stablehlo.convert " + n +
         "y : (tensor<ui8>) -> tensor<i32>");
    line(n + "yb = stablehlo.broadcast_in_dim " + n +
         "yi, dims = [] : (tensor<i32>) -> tensor<" + shape + "i32>");
    line(n + " = stablehlo.subtract " + n + "w, " + n + "yb : tensor<" + shape +
         "i32>");
    return text;
  };
  auto convolution = [](const std::string &x, const std::string &name,
                        const std::string &in, const std::string &weights,
                        const std::string &out, const std::string &window,
                        int groups) {
    const std::string n = "%" + name;
    return n + "k = stablehlo.constant dense<7> : tensor<" + weights +
           "xi32>\n" + n + "i = stablehlo.convolution(" + x + ", " + n +
           "k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window "
           "= {" +
           window + "} {batch_group_count = 1 : i64, feature_group_count = " +
           std::to_string(groups) + " : i64} : (tensor<" + in +
           "i32>, tensor<" + weights + "xi32>) -> tensor<" + out + "i32>\n" +
           n + " = stablehlo.convert " + n + "i : (tensor<" + out +
           "i32>) -> tensor<" + out + "f32>\n";
  };
  for (bool isDepthwise : {false, true})
    for (bool isPadded : {false, true}) {
      const std::string window = isPadded ? "pad = [[1, 1], [1, 1]]" : "";
      const std::string out = isPadded ? "1x20x9x9x" : "1x20x7x7x";
      const std::string body =
          "(%a: tensor<1x5x9x9xf32>) -> tensor<" + out + "f32> {\n" +
          quantised("%a", "p", "1x5x9x9x") +
          convolution("%p", "c", "1x5x9x9x", "20x5x1x1", "1x20x9x9x", "", 1) +
          quantised("%c", "q", "1x20x9x9x") +
          convolution("%q", "d", "1x20x9x9x",
                      isDepthwise ? "20x1x3x3" : "20x20x3x3", out, window,
                      isDepthwise ? 20 : 1) +
          "return %d : tensor<" + out + "f32>\n}";
      EXPECT_EQ(differsAnywhere(body, {0, 0}), "") << body;
      EXPECT_EQ(differsRaised(body, {0, 0}), "") << body;
    }
}

} // namespace
