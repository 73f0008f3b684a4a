//===- Int8ProductsTest.cpp - products of bytes against the oracle --------===//
//
// Whatever bytes, zero points and forms there are: sums are toTheBit, and so
// are conversions back to bytes.
//
//===----------------------------------------------------------------------===//
//
// Covers: backend/cpu/ir ProductSides
// Covers: backend/cpu/emit RoundedConversion
// Covers: backend/cpu/quantized Int8Products ZeroPointProducts WidenInt8

#include "Sweep.h"
#include "backend/cpu/CompareWithInterpreter.h"
#include "backend/cpu/ProgramText.h"
#include "backend/cpu/target/Target.h"
#include "runtime/Program.h"
#include "runtime/ProgramExecutor.h"

#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::test;

namespace {

constexpr Tolerance toTheBit = {0, 0};

/// `%w`, of all numbers from -128 on, as i32 less \p zero.
std::string weightsOf(std::initializer_list<int64_t> shape,
                      const std::string &element, int64_t zero) {
  int64_t size = 1;
  for (int64_t each : shape)
    size *= each;
  const std::string flat = typeOf({size}, "i32"), type = typeOf(shape, "i32");
  const std::string narrow = typeOf(shape, element);
  return "%wi = stablehlo.iota dim = 0 : " + flat +
         "\n%wp = stablehlo.constant dense<37> : " + flat +
         "\n%wm = stablehlo.multiply %wi, %wp : " + flat +
         "\n%wr = stablehlo.reshape %wm : (" + flat + ") -> " + type +
         "\n%wn = stablehlo.convert %wr : (" + type + ") -> " + narrow +
         "\n%wc = stablehlo.convert %wn : (" + narrow + ") -> " + type +
         "\n%wz = stablehlo.constant dense<" + std::to_string(zero) +
         "> : " + type + "\n%w = stablehlo.subtract %wc, %wz : " + type + "\n";
}

/// `%d`, the distances of the bytes `%a` from a zero point: constant, or the
/// argument `%z`.
std::string distancesOf(std::initializer_list<int64_t> shape,
                        const std::string &element,
                        std::optional<int64_t> zero) {
  const std::string type = typeOf(shape, "i32"), bytes = typeOf(shape, element);
  std::string text =
      "%ac = stablehlo.convert %a : (" + bytes + ") -> " + type + "\n";
  if (zero)
    text += "%zs = stablehlo.constant dense<" + std::to_string(*zero) +
            "> : " + type + "\n";
  else
    text += "%zi = stablehlo.convert %z : (tensor<" + element +
            ">) -> tensor<i32>\n%zs = stablehlo.broadcast_in_dim %zi, dims = "
            "[] : (tensor<i32>) -> " +
            type + "\n";
  return text + "%d = stablehlo.subtract %ac, %zs : " + type + "\n";
}

struct ProductSizes {
  int64_t m, n, k;
};

std::string product(const std::string &lhs, const std::string &rhs,
                    int64_t rhsZero, std::optional<int64_t> zero,
                    ProductSizes s, bool isTransposed) {
  const std::string result = typeOf({s.m, s.n}, "i32");
  const std::string bytes = typeOf({s.m, s.k}, lhs),
                    type = typeOf({s.m, s.k}, "i32");
  const std::string weights = isTransposed
                                  ? weightsOf({s.n, s.k}, rhs, rhsZero)
                                  : weightsOf({s.k, s.n}, rhs, rhsZero);
  const std::string weightType =
      isTransposed ? typeOf({s.n, s.k}, "i32") : typeOf({s.k, s.n}, "i32");
  return "(%a: " + bytes + ", %z: tensor<" + lhs + ">) -> " + result + " {\n" +
         weights + distancesOf({s.m, s.k}, lhs, zero) +
         "%r = stablehlo.dot_general %d, %w, contracting_dims = [1] x [" +
         (isTransposed ? "1" : "0") + "] : (" + type + ", " + weightType +
         ") -> " + result + "\nreturn %r : " + result + "\n}";
}

std::string convolution(const std::string &lhs, std::optional<int64_t> zero,
                        int64_t inputs, int64_t outputs, int64_t groups,
                        const std::string &window) {
  const std::string input = typeOf({2, inputs, 9, 7}, "i32"),
                    bytes = typeOf({2, inputs, 9, 7}, lhs);
  const bool isStrided = window.find("stride") != std::string::npos;
  const std::string result = isStrided ? typeOf({2, outputs, 5, 4}, "i32")
                                       : typeOf({2, outputs, 9, 7}, "i32");
  return "(%a: " + bytes + ", %z: tensor<" + lhs + ">) -> " + result + " {\n" +
         weightsOf({outputs, inputs / groups, 3, 3}, "i8", 0) +
         distancesOf({2, inputs, 9, 7}, lhs, zero) +
         "%r = stablehlo.convolution(%d, %w) dim_numbers = "
         "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {" +
         window + "} {batch_group_count = 1 : i64, feature_group_count = " +
         std::to_string(groups) + " : i64} : (" + input + ", " +
         typeOf({outputs, inputs / groups, 3, 3}, "i32") + ") -> " + result +
         "\nreturn %r : " + result + "\n}";
}

} // namespace

TEST(Int8Products, OfMatrices) {
  for (const char *lhs : {"ui8", "i8"})
    for (bool isTransposed : {false, true})
      for (ProductSizes sizes :
           {ProductSizes{1, 100, 70}, {5, 33, 64}, {19, 16, 130}, {40, 70, 3}})
        for (std::optional<int64_t> zero :
             {std::optional<int64_t>(0), std::optional<int64_t>(101),
              std::optional<int64_t>()})
          EXPECT_EQ(differs(product(lhs, "i8", 0, zero, sizes, isTransposed),
                            toTheBit),
                    "")
              << lhs << " " << sizes.m << "x" << sizes.n << "x" << sizes.k
              << (zero ? " from " + std::to_string(*zero) : " from a variable")
              << (isTransposed ? ", transposed" : "");
}

/// A number that no byte is, is no zero point.
TEST(Int8Products, FromOtherNumbers) {
  for (int64_t zero : {200, -129, 1000})
    for (const char *lhs : {"ui8", "i8"}) {
      EXPECT_EQ(
          differs(product(lhs, "i8", 0, zero, {9, 40, 50}, false), toTheBit),
          "")
          << lhs << " from " << zero;
      EXPECT_EQ(
          differs(convolution(lhs, zero, 20, 16, 1, "pad = [[1, 1], [1, 1]]"),
                  toTheBit),
          "")
          << lhs << " from " << zero;
    }
}

/// What is no signed byte without its zero point is computed in another way.
TEST(Int8Products, OfOtherWeights) {
  for (int64_t zero : {128, 100, 0})
    EXPECT_EQ(
        differs(product("ui8", "ui8", zero, 7, {9, 40, 50}, false), toTheBit),
        "")
        << zero;
}

namespace {

/// Both computed: \p a and \p b are bytes of these types, distances from
/// constants or, without them, from arguments.
struct ComputedBytes {
  std::string a, b;
  std::optional<int64_t> aZero, bZero;
  ProductSizes sizes;
  bool isTransposed;

  std::string body() const {
    const ProductSizes s = sizes;
    auto right = [&](const std::string &element) {
      return isTransposed ? typeOf({2, s.n, 3, s.k}, element)
                          : typeOf({2, s.k, 3, s.n}, element);
    };
    const std::string left = typeOf({2, s.m, 3, s.k}, "i32"),
                      result = typeOf({2, 3, s.m, s.n}, "i32");
    auto distances = [](const std::string &name, const std::string &bytes,
                        const std::string &element, const std::string &wide,
                        std::optional<int64_t> zero) {
      std::string text = "%" + name + "c = stablehlo.convert %" + name +
                         " : (" + bytes + ") -> " + wide + "\n";
      if (zero)
        text += "%" + name + "s = stablehlo.constant dense<" +
                std::to_string(*zero) + "> : " + wide + "\n";
      else
        text += "%" + name + "i = stablehlo.convert %" + name + "z : (tensor<" +
                element + ">) -> tensor<i32>\n%" + name +
                "s = stablehlo.broadcast_in_dim %" + name +
                "i, dims = [] : (tensor<i32>) -> " + wide + "\n";
      return text + "%" + name + "d = stablehlo.subtract %" + name + "c, %" +
             name + "s : " + wide + "\n";
    };
    return "(%a: " + typeOf({2, s.m, 3, s.k}, a) + ", %b: " + right(b) +
           ", %az: tensor<" + a + ">, %bz: tensor<" + b + ">) -> " + result +
           " {\n" +
           distances("a", typeOf({2, s.m, 3, s.k}, a), a, left, aZero) +
           distances("b", right(b), b, right("i32"), bZero) +
           "%r = stablehlo.dot_general %ad, %bd, batching_dims = [0, 2] x "
           "[0, 2], contracting_dims = [3] x [" +
           (isTransposed ? "3" : "1") + "] : (" + left + ", " + right("i32") +
           ") -> " + result + "\nreturn %r : " + result + "\n}";
  }
  std::string name() const {
    auto from = [](std::optional<int64_t> zero) {
      return zero ? std::to_string(*zero) : std::string("a variable");
    };
    return a + " from " + from(aZero) + " by " + b + " from " + from(bZero) +
           ", " + std::to_string(sizes.m) + "x" + std::to_string(sizes.n) +
           "x" + std::to_string(sizes.k) + (isTransposed ? ", transposed" : "");
  }
};

/// Whether \p program has a kernel of such a product.
bool multipliesDistances(const Program &program) {
  return llvm::any_of(program.steps, [](const Step &step) {
    return step.op.find("zero_point_product") != std::string::npos;
  });
}

} // namespace

TEST(Int8Products, OfComputedBytes) {
  Sweep sweep(6);
  for (const char *a : {"ui8", "i8"})
    for (const char *b : {"ui8", "i8"})
      for (std::optional<int64_t> aZero :
           {std::optional<int64_t>(0), std::optional<int64_t>(101),
            std::optional<int64_t>()})
        for (std::optional<int64_t> bZero :
             {std::optional<int64_t>(0), std::optional<int64_t>(3),
              std::optional<int64_t>(127), std::optional<int64_t>()})
          for (ProductSizes sizes : {ProductSizes{2, 100, 70},
                                     {5, 33, 64},
                                     {40, 70, 131},
                                     {19, 16, 300}})
            for (bool isTransposed : {false, true})
              if (sweep.takesNext()) {
                const ComputedBytes product = {a,     b,     aZero,
                                               bZero, sizes, isTransposed};
                std::shared_ptr<Program> program;
                EXPECT_EQ(differs(product.body(), toTheBit, &program), "")
                    << product.name();
                if (program && sizes.m > 16 &&
                    !cpu::Target::host()->hasMatrixUnits)
                  EXPECT_TRUE(multipliesDistances(*program)) << product.name();
              }
}

/// Without dot products of bytes, and on narrower vectors.
TEST(Int8Products, OfComputedBytesOnLesserMachines) {
  Sweep sweep(3);
  for (const cpu::Target &target : lesserTargets())
    for (const char *a : {"ui8", "i8"})
      for (const char *b : {"ui8", "i8"})
        for (ProductSizes sizes : {ProductSizes{9, 40, 50}, {40, 70, 300}})
          for (bool isTransposed : {false, true})
            if (sweep.takesNext()) {
              const ComputedBytes product = {a, b, 7, 100, sizes, isTransposed};
              EXPECT_EQ(differs(product.body(), toTheBit, nullptr, target), "")
                  << product.name();
            }
}

/// Sums wrap as those of 32 bits do; numbers that no byte is are no zero
/// points.
TEST(Int8Products, OfComputedBytesFromOtherNumbers) {
  for (int64_t zero : {-129, 300, 100000})
    for (bool isTransposed : {false, true}) {
      const ComputedBytes product = {"ui8", "ui8",        zero,
                                     128,   {9, 40, 500}, isTransposed};
      EXPECT_EQ(differs(product.body(), toTheBit), "") << product.name();
    }
}

TEST(Int8Products, OfConvolutions) {
  for (const char *lhs : {"ui8", "i8"})
    for (std::optional<int64_t> zero :
         {std::optional<int64_t>(0), std::optional<int64_t>(3),
          std::optional<int64_t>(127), std::optional<int64_t>()})
      for (const char *window :
           {"pad = [[1, 1], [1, 1]]", "stride = [2, 2], pad = [[1, 1], [1, 1]]",
            "pad = [[2, 2], [2, 2]], rhs_dilate = [2, 2]"})
        for (auto [inputs, outputs, groups] :
             {std::tuple{3, 20, 1}, {20, 16, 1}, {32, 32, 2}, {12, 12, 12}})
          EXPECT_EQ(
              differs(convolution(lhs, zero, inputs, outputs, groups, window),
                      toTheBit),
              "")
              << lhs << " from "
              << (zero ? std::to_string(*zero) : "a variable") << ", " << inputs
              << " to " << outputs << " in " << groups << " groups, " << window;
}

/// Of numbers that are rounded to bytes for it, and for others that read them,
/// too: the bytes may be written as floats.
TEST(Int8Products, ByChannelOfWhatIsRounded) {
  for (int size : {9, 40})
    for (int zero : {0, 3, -128, 127})
      for (bool isReadTwice : {false, true}) {
        const std::string sizes =
            "1x20x" + std::to_string(size) + "x" + std::to_string(size) + "x";
        const std::string x = "tensor<" + sizes + "f32>",
                          q = "tensor<" + sizes +
                              "!quant.uniform<i8:f32, 0.02:" +
                              std::to_string(zero) + ">>",
                          w = "tensor<20x1x3x3x!quant.uniform<i8:f32, 0.5>>",
                          s = "tensor<" + sizes +
                              "!quant.uniform<i32:f32, 0.01>>",
                          b = "tensor<20x!quant.uniform<i32:f32, 0.01>>";
        std::string taps;
        for (int i = 0; i < 20 * 9; ++i)
          taps += (i == 0       ? "[[[["
                   : i % 9 == 0 ? "]]],[[["
                   : i % 3 == 0 ? "],["
                                : ",") +
                  std::to_string(i * 37 % 255 - 127);
        const std::string result = isReadTwice ? "(" + x + ", " + x + ")" : x;
        EXPECT_EQ(
            differs(
                "(%x: " + x + ") -> " + result +
                    " {\n%k = \"stablehlo.constant\"() {value = dense<" + taps +
                    "]]]]> : tensor<20x1x3x3xi8>} : () -> " + w +
                    "\n%n = \"stablehlo.constant\"() {value = dense<-300> "
                    ": tensor<20xi32>} : () -> " +
                    b + "\n%q = stablehlo.uniform_quantize %x : (" + x +
                    ") -> " + q +
                    "\n%c = stablehlo.convolution(%q, %k) dim_numbers = [b, "
                    "f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = "
                    "[[1, 1], [1, 1]]} {batch_group_count = 1 : i64, "
                    "feature_group_count = 20 : i64} : (" +
                    q + ", " + w + ") -> " + s +
                    "\n%r = stablehlo.broadcast_in_dim %n, dims = [1] : (" + b +
                    ") -> " + s + "\n%a = stablehlo.add %c, %r : " + s +
                    "\n%y = stablehlo.uniform_dequantize %a : (" + s + ") -> " +
                    x +
                    (isReadTwice ? "\n%z = stablehlo.uniform_dequantize %q "
                                   ": (" +
                                       q + ") -> " + x +
                                       "\nreturn %y, %z : " + x + ", " + x
                                 : "\nreturn %y : " + x) +
                    "\n}",
                toTheBit),
            "")
            << size << " from " << zero << (isReadTwice ? ", read twice" : "");
      }
}

/// Ties, bounds, infinities and NaN.
TEST(Int8Products, RoundedConversions) {
  const std::string x = typeOf({24}, "f32");
  for (const char *to : {"ui8", "i8"})
    for (bool roundsFirst : {false, true}) {
      const std::string result = typeOf({24}, to);
      const bool isSigned = std::string(to) == "i8";
      const std::string least = isSigned ? "-128.0" : "0.0",
                        greatest = isSigned ? "127.0" : "255.0";
      const std::string bounds =
          "%l = stablehlo.constant dense<" + least +
          "> : tensor<f32>\n%g = stablehlo.constant dense<" + greatest +
          "> : tensor<f32>\n%z = stablehlo.constant dense<3.0> : " + x + "\n";
      const std::string values =
          "%v = stablehlo.constant dense<[0.5, 1.5, 2.5, -0.5, -1.5, 254.5, "
          "255.5, 126.5, 127.5, -128.5, -129.5, 300.0, -300.0, 3.0e9, -3.0e9, "
          "0x7F800000, 0xFF800000, 0x7FC00000, 0.49999997, 4.2, -4.7, 1.0e-40, "
          "-0.0, 251.5]> : " +
          x + "\n%s = stablehlo.add %a, %v : " + x + "\n";
      const std::string clamp = "(tensor<f32>, " + x + ", tensor<f32>) -> " + x;
      const std::string chain =
          roundsFirst
              ? "%r = stablehlo.round_nearest_even %s : " + x +
                    "\n%p = stablehlo.add %r, %z : " + x +
                    "\n%c = stablehlo.clamp %l, %p, %g : " + clamp + "\n"
              : "%p = stablehlo.clamp %l, %s, %g : " + clamp +
                    "\n%c = stablehlo.round_nearest_even %p : " + x + "\n";
      EXPECT_EQ(differs("(%i: " + x + ") -> " + result +
                            " {\n%o = stablehlo.constant dense<0.0> : " + x +
                            "\n%a = stablehlo.multiply %i, %o : " + x + "\n" +
                            bounds + values + chain +
                            "%y = stablehlo.convert %c : (" + x + ") -> " +
                            result + "\nreturn %y : " + result + "\n}",
                        toTheBit),
                "")
          << to << (roundsFirst ? ", rounded first" : "");
    }
}
