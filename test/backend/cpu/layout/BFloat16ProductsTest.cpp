// Products and convolutions of bf16 by dot products of bf16, against the
// oracle: sums in f32, before anything rounds them.
//
// Covers: backend/cpu/layout BFloat16Products

#include "backend/cpu/CompareWithInterpreter.h"
#include "backend/cpu/ConstantText.h"
#include "backend/cpu/cost/Estimates.h"
#include "runtime/FloatMode.h"

#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::cpu;
using namespace sinter::test;

namespace {

/// The host, on which such products are worth it, if it has them.
std::optional<Target> machine() {
  Target target = *Target::host("-amx-tile");
  if (!target.hasBF16Dot) {
    std::fprintf(stderr, "left out: no dot products of bf16\n");
    return std::nullopt;
  }
  target.rates.bf16 = 2 * target.rates.f32;
  return target;
}

struct ProductOutcome {
  std::string wrong;
  int64_t products = 0; ///< That multiply bf16.
  std::vector<std::string> kernels;
};

ProductOutcome run(const std::string &body, const Target &target,
                   Tolerance tolerance = {}, CpuOptions options = {}) {
  ProductOutcome outcome;
  options.target = target;
  options.onChoice = [&](auto &&, const Alternatives &all) {
    outcome.products += all.front().kernel == "bf16";
    outcome.kernels.push_back(all.front().kernel.str());
  };
  outcome.wrong = differsWith(body, tolerance, options);
  return outcome;
}

/// A constant \p name of \p element.
std::string numbers(const std::string &name, const Shape &shape,
                    const std::string &element = "bf16") {
  return name + " = " + weights(shape, element, 7);
}

/// [M, K] by [K, N], or by [N, K].
std::string product(int64_t m, int64_t n, int64_t k, bool isTransposed) {
  const std::string rows = std::to_string(m), columns = std::to_string(n),
                    depth = std::to_string(k);
  const std::string w =
      isTransposed ? columns + "x" + depth : depth + "x" + columns;
  return "(%x: tensor<" + rows + "x" + depth + "xbf16>) -> tensor<" + rows +
         "x" + columns + "xf32> {\n" +
         numbers("%w", isTransposed ? Shape{n, k} : Shape{k, n}) +
         "%y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [" +
         (isTransposed ? "1" : "0") + "] : (tensor<" + rows + "x" + depth +
         "xbf16>, tensor<" + w + "xbf16>) -> tensor<" + rows + "x" + columns +
         "xf32>\nreturn %y : tensor<" + rows + "x" + columns + "xf32>\n}";
}

TEST(BFloat16Products, OfWeights) {
  const std::optional<Target> target = machine();
  if (!target)
    GTEST_SKIP();
  for (auto [m, n, k] : {std::tuple{1, 400, 37},
                         {2, 96, 96},
                         {7, 133, 130},
                         {64, 256, 256},
                         {130, 70, 65},
                         {33, 16, 1000},
                         {12, 2000, 3}})
    for (bool isTransposed : {false, true}) {
      const ProductOutcome outcome =
          run(product(m, n, k, isTransposed), *target);
      EXPECT_EQ(outcome.wrong, "") << m << " " << n << " " << k;
      EXPECT_EQ(outcome.products, 1) << m << " " << n << " " << k;
    }
}

struct BFloat16Layer {
  int64_t inputs, outputs, groups, size, window, stride, dilation;
  bool isOfPairs;
};

/// A layer behind a relu, which lies in memory in blocks.
std::string convolution(const BFloat16Layer &layer,
                        const std::string &element = "bf16") {
  const int64_t reach = (layer.window - 1) * layer.dilation, pad = reach / 2,
                result = (layer.size + 2 * pad - reach - 1) / layer.stride + 1;
  auto type = [](std::initializer_list<int64_t> shape,
                 const std::string &element) {
    std::string text = "tensor<";
    for (int64_t each : shape)
      text += std::to_string(each) + "x";
    return text + element + ">";
  };
  const std::string x = type({2, 16, layer.size, layer.size}, element),
                    v = type({2, layer.inputs, layer.size, layer.size},
                             element),
                    y = type({2, layer.outputs, result, result}, "f32"),
                    first = std::to_string(layer.inputs) + "x16x1x1",
                    second = std::to_string(layer.outputs) + "x" +
                             std::to_string(layer.inputs / layer.groups) + "x" +
                             std::to_string(layer.window) + "x" +
                             std::to_string(layer.window);
  auto convolve = [&](const std::string &operands, int64_t pad, int64_t stride,
                      int64_t dilation, int64_t groups,
                      const std::string &types) {
    const std::string p = std::to_string(pad), s = std::to_string(stride),
                      d = std::to_string(dilation);
    return "stablehlo.convolution(" + operands +
           ") dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = "
           "{stride = [" +
           s + ", " + s + "], pad = [[" + p + ", " + p + "], [" + p + ", " + p +
           "]], rhs_dilate = [" + d + ", " + d +
           "]} {batch_group_count = 1 : i64, feature_group_count = " +
           std::to_string(groups) + " : i64} : " + types + "\n";
  };
  return "(%x: " + x + ") -> (" + y + ", " + v + ") {\n" +
         numbers("%w", {layer.inputs, 16, 1, 1}, element) +
         numbers("%u",
                 {layer.outputs, layer.inputs / layer.groups, layer.window,
                  layer.window},
                 element) +
         "%c = " +
         convolve("%x, %w", 0, 1, 1, 1,
                  "(" + x + ", tensor<" + first + "x" + element + ">) -> " +
                      v) +
         "%r = nn.relu %c : " + v + "\n%y = " +
         convolve("%r, %u", pad, layer.stride, layer.dilation, layer.groups,
                  "(" + v + ", tensor<" + second + "x" + element + ">) -> " +
                      y) +
         "return %y, %r : " + y + ", " + v + "\n}";
}

TEST(BFloat16Products, Convolutions) {
  const std::optional<Target> target = machine();
  if (!target)
    GTEST_SKIP();
  for (const BFloat16Layer &layer :
       {BFloat16Layer{32, 64, 1, 14, 1, 1, 1, true},
        {32, 40, 1, 15, 1, 2, 1, true},
        {20, 33, 1, 9, 3, 1, 1, true},
        {16, 48, 1, 11, 3, 2, 1, true},
        {16, 16, 1, 12, 5, 1, 1, true},
        {18, 32, 1, 13, 3, 1, 2, true},
        {64, 64, 2, 10, 3, 1, 1, true},
        {16, 24, 8, 10, 3, 1, 1, true},
        {64, 128, 1, 28, 3, 1, 1, true},
        {36, 36, 36, 9, 3, 1, 1, false},
        {48, 48, 48, 10, 5, 2, 1, false},
        {21, 40, 1, 9, 3, 1, 1, false}}) {
    SCOPED_TRACE(testing::Message() << layer.inputs << " to " << layer.outputs
                                    << ", " << layer.window << "/"
                                    << layer.stride << " of " << layer.size);
    // What was rounded in another order differs by a unit of bf16, which the
    // second layer reads.
    const ProductOutcome outcome =
        run(convolution(layer), *target, Tolerance{1e-2, 2e-2});
    EXPECT_EQ(outcome.wrong, "");
    EXPECT_EQ(outcome.products, layer.isOfPairs ? 2 : 1);
  }
}

/// Winograd's method multiplies f32, and reads pixels of bf16.
TEST(BFloat16Products, WinogradReadsBFloat16) {
  std::optional<Target> target = machine();
  if (!target)
    GTEST_SKIP();
  target->rates.bf16 = 1.01 * target->rates.f32;
  for (int64_t size : {12, 15, 28}) {
    const ProductOutcome outcome =
        run(convolution({64, 128, 1, size, 3, 1, 1, true}), *target,
            Tolerance{1e-2, 2e-2});
    EXPECT_EQ(outcome.wrong, "") << size;
    EXPECT_EQ(outcome.products, 2) << size;
    EXPECT_TRUE(llvm::is_contained(outcome.kernels, "winograd") ||
                llvm::is_contained(outcome.kernels, "winograd-2x4"))
        << size;
  }
}

/// Denormal numbers would be lost.
TEST(BFloat16Products, NotWhereDenormalsAreKept) {
  const std::optional<Target> target = machine();
  if (!target)
    GTEST_SKIP();
  CpuOptions options;
  options.denormals = Denormals::Keep;
  const ProductOutcome outcome =
      run(product(7, 133, 130, false), *target, {}, options);
  EXPECT_EQ(outcome.wrong, "");
  EXPECT_EQ(outcome.products, 0);
}

/// Infinities and NaN stay in their rows.
TEST(BFloat16Products, OfNumbersThatAreNone) {
  const std::optional<Target> target = machine();
  if (!target)
    GTEST_SKIP();
  const std::string x = "tensor<7x64xbf16>", y = "tensor<7x96xf32>";
  const ProductOutcome outcome = run(
      "(%x: " + x + ") -> " + y + " {\n" + numbers("%w", {64, 96}) +
          "%i = stablehlo.iota dim = 0 : tensor<7x64xi32>\n%j = stablehlo.iota "
          "dim = 1 : tensor<7x64xi32>\n%k = stablehlo.constant dense<17> : "
          "tensor<7x64xi32>\n%n = stablehlo.multiply %i, %k : "
          "tensor<7x64xi32>\n%t = stablehlo.compare EQ, %n, %j : "
          "(tensor<7x64xi32>, tensor<7x64xi32>) -> tensor<7x64xi1>\n%z = "
          "stablehlo.constant dense<0.0> : " +
          x + "\n%o = stablehlo.constant dense<1.0> : " + x +
          "\n%f = stablehlo.divide %o, %z : " + x +
          "\n%v = stablehlo.select %t, %f, %x : tensor<7x64xi1>, " + x +
          "\n%y = stablehlo.dot_general %v, %w, contracting_dims = [1] x [0] : "
          "(" +
          x + ", tensor<64x96xbf16>) -> " + y + "\nreturn %y : " + y + "\n}",
      *target);
  EXPECT_EQ(outcome.wrong, "");
  EXPECT_EQ(outcome.products, 1);
}

/// [M, 64] of f32 by weights, which \p weights computes as %w of \p element
/// from constants, or is the operation that does.
std::string widened(int64_t rows, const std::string &element,
                    const std::string &weights,
                    const std::string &attributes = "") {
  const std::string m = std::to_string(rows), x = "tensor<" + m + "x64xf32>",
                    y = "tensor<" + m + "x96xf32>",
                    w = "tensor<64x96x" + element + ">";
  return "(%x: " + x + ") -> " + y + " {\n" +
         (llvm::StringRef(weights).starts_with("%") ? "" : "%w = ") + weights +
         (element == "f32" ? ""
                           : "%f = stablehlo.convert %w : (" + w +
                                 ") -> tensor<64x96xf32>\n") +
         "%y = stablehlo.dot_general %x, " + (element == "f32" ? "%w" : "%f") +
         ", contracting_dims = [1] x [0]" + attributes + " : (" + x +
         ", tensor<64x96xf32>) -> " + y + "\nreturn %y : " + y + "\n}";
}

CpuOptions allowing(Precision precision) {
  CpuOptions options;
  options.precision = precision;
  return options;
}

/// What is rounded to 8 bits on both sides, of sums of 64 products.
constexpr Tolerance ofRoundedFactors = {2e-2, 6e-2};

TEST(BFloat16Products, OfFloatsThatMayBeRounded) {
  const std::optional<Target> target = machine();
  if (!target)
    GTEST_SKIP();
  const std::string ofBytes = [] {
    Tensor bytes(ElementType::I8, {64, 96});
    fillRandom(bytes, 5);
    return constantText(bytes, "tensor<64x96xi8>");
  }();
  struct Case {
    std::string element, weights;
    int64_t rows;
    bool isOfPairs;
    Tolerance tolerance = ofRoundedFactors;
  };
  const Tolerance ofGreatWeights = {2e-2, 12};
  // A scale for 32 neighbours of each column.
  const std::string ofBlocks =
      "%q = " + ofBytes +
      "%c = stablehlo.convert %q : (tensor<64x96xi8>) -> "
      "tensor<64x96xf32>\n%s = " +
      weights({2, 96}, "f32", 9) +
      "%b = stablehlo.broadcast_in_dim %s, dims = [0, 2] : "
      "(tensor<2x96xf32>) -> tensor<2x32x96xf32>\n%r = stablehlo.reshape %b : "
      "(tensor<2x32x96xf32>) -> tensor<64x96xf32>\n%w = stablehlo.multiply "
      "%c, %r : tensor<64x96xf32>\n";
  const Case cases[] = {{"f32", weights({64, 96}, "f32", 3), 40, true},
                        {"f32", weights({64, 96}, "f32", 3), 1, true},
                        {"f16", weights({64, 96}, "f16", 3), 40, true},
                        {"bf16", weights({64, 96}, "bf16", 3), 1, true},
                        {"i8", ofBytes, 40, true, ofGreatWeights},
                        {"f32", ofBlocks, 40, true, ofGreatWeights},
                        // One row waits for its weights, which are bytes.
                        {"i8", ofBytes, 1, false},
                        {"f32", ofBlocks, 1, false, ofGreatWeights}};
  for (const Case &each : cases) {
    const std::string body = widened(each.rows, each.element, each.weights);
    SCOPED_TRACE(each.element + " of " + std::to_string(each.rows));
    const ProductOutcome rounded = run(body, *target, each.tolerance,
                                       allowing(Precision::BFloat16)),
                         wide = run(body, *target,
                                    {2e-5, 1e-4 * each.tolerance.absolute});
    EXPECT_EQ(rounded.wrong, "");
    EXPECT_EQ(rounded.products, each.isOfPairs);
    EXPECT_EQ(wide.wrong, "");
    EXPECT_EQ(wide.products, 0);
  }
}

/// What the model asks for wins over the option, in both directions.
TEST(BFloat16Products, TheModelWins) {
  const std::optional<Target> target = machine();
  if (!target)
    GTEST_SKIP();
  const std::string number = weights({64, 96}, "f32", 3);
  EXPECT_EQ(run(widened(40, "f32", number, ", precision = [HIGHEST, HIGHEST]"),
                *target, {}, allowing(Precision::BFloat16))
                .products,
            0);
  const ProductOutcome asked =
      run(widened(40, "f32", number,
                  ", algorithm = <lhs_precision_type = bf16, "
                  "rhs_precision_type = bf16, accumulation_type = f32, "
                  "lhs_component_count = 1, rhs_component_count = 1, "
                  "num_primitive_operations = 1, "
                  "allow_imprecise_accumulation = false>"),
          *target, ofRoundedFactors);
  EXPECT_EQ(asked.wrong, "");
  EXPECT_EQ(asked.products, 1);
}

/// Convolutions of f32 that are direct read rounded pixels; by Winograd's
/// method nothing is rounded.
TEST(BFloat16Products, ConvolutionsThatMayBeRounded) {
  std::optional<Target> target = machine();
  if (!target)
    GTEST_SKIP();
  const CpuOptions options = allowing(Precision::BFloat16);
  const BFloat16Layer direct{32, 64, 1, 14, 1, 1, 1, true},
      fast{64, 128, 1, 28, 3, 1, 1, true};
  const ProductOutcome of =
      run(convolution(direct, "f32"), *target, {3e-2, 6e-2}, options);
  EXPECT_EQ(of.wrong, "");
  EXPECT_EQ(of.products, 2);
  target->rates.bf16 = 1.01 * target->rates.f32;
  const ProductOutcome without =
      run(convolution(fast, "f32"), *target, {3e-2, 0.3}, options);
  EXPECT_EQ(without.wrong, "");
  EXPECT_EQ(without.products, 1);
}

} // namespace

TEST(Estimates, ProductsOfBFloat16) {
  const Target amd = *Target::named("x86_64-unknown-linux-gnu", "znver4", ""),
               cooper =
                   *Target::named("x86_64-unknown-linux-gnu", "cooperlake", ""),
               units = *Target::named("x86_64-unknown-linux-gnu",
                                      "sapphirerapids", ""),
               older =
                   *Target::named("x86_64-unknown-linux-gnu", "x86-64-v4", "");
  EXPECT_TRUE(prefersBFloat16(amd));
  // With two multiply-adds a cycle a dot product is no faster.
  Target twice = amd;
  twice.rates.f32 *= 2;
  EXPECT_FALSE(prefersBFloat16(twice));
  for (const Target &target : {cooper, units, older})
    EXPECT_FALSE(prefersBFloat16(target)) << target.cpu;
  const Alternatives all =
      alternativesForBFloat16(MatMulShape::dense(1024, 768, 768), amd);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].kernel, "bf16");
  EXPECT_NEAR(all[1].seconds / all[0].seconds, 2, 0.1);
}
