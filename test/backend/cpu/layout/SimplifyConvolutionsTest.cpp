//===- SimplifyConvolutionsTest.cpp - convolutions in every form ----------===//
//
// Whatever form a convolution is computed in, its values are the oracle's:
// drawn at random over ranks, windows, groups, orders of dimensions, element
// types, with constant weights and others; and the kinds that models have.
//
//===----------------------------------------------------------------------===//
//
// Covers: backend/cpu/layout SimplifyConvolutions SimplifyProducts
// Covers: graph IntegerRange

#include "backend/cpu/CompareWithInterpreter.h"
#include "backend/cpu/WithoutMatrixUnits.h"
#include "graph/Constants.h"
#include "graph/stablehlo/StablehloOps.h"
#include "runtime/Program.h"
#include "runtime/Random.h"

#include <gtest/gtest.h>
#include <random>

using namespace sinter;
using namespace sinter::test;

namespace {

/// The numbers of a convolution, one of each list a spatial dimension.
struct ConvolutionCase {
  int64_t batch = 1, features = 1, outputs = 1; ///< Of all groups.
  Shape sizes, window;
  std::vector<int64_t> strides, low, high, baseDilations, windowDilations;
  std::vector<int64_t> reversed;
  int64_t featureGroups = 1, batchGroups = 1;
  /// Places of batch, feature and spatial dimensions; of outputs, inputs and
  /// spatial dimensions for the kernel.
  std::vector<int64_t> inputOrder, kernelOrder, resultOrder;
  std::string element = "f32";
  bool hasConstantKernel = true;

  explicit ConvolutionCase(size_t spatial)
      : sizes(spatial, 1), window(spatial, 1), strides(spatial, 1),
        low(spatial, 0), high(spatial, 0), baseDilations(spatial, 1),
        windowDilations(spatial, 1), reversed(spatial, 0) {
    for (size_t i = 0; i < spatial + 2; ++i)
      inputOrder.push_back(static_cast<int64_t>(i));
    kernelOrder = resultOrder = inputOrder;
  }

  int64_t resultSize(size_t i) const {
    stablehlo::WindowDimension each;
    each.size = window[i];
    each.stride = strides[i];
    each.paddingLow = low[i];
    each.paddingHigh = high[i];
    each.baseDilation = baseDilations[i];
    each.windowDilation = windowDilations[i];
    return stablehlo::windowedSize(sizes[i], each).value_or(0);
  }
  std::string text() const;

private:
  std::string constantKernel(const std::string &type) const;
};

std::string list(const std::vector<int64_t> &values) {
  std::string text;
  for (int64_t value : values)
    text += (text.empty() ? "" : ", ") + std::to_string(value);
  return "[" + text + "]";
}

/// "[b, 0, 1, f]" for the places of b, f, 0 and 1.
std::string names(const std::vector<int64_t> &order, char first, char second) {
  std::vector<std::string> all(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    all[order[i]] = i == 0   ? std::string(1, first)
                    : i == 1 ? std::string(1, second)
                             : std::to_string(i - 2);
  std::string text;
  for (const std::string &name : all)
    text += (text.empty() ? "" : ", ") + name;
  return "[" + text + "]";
}

std::string type(const std::vector<int64_t> &order, int64_t first,
                 int64_t second, const Shape &rest,
                 const std::string &element) {
  std::vector<int64_t> shape(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    shape[order[i]] = i == 0 ? first : i == 1 ? second : rest[i - 2];
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + element + ">";
}

/// "[..., ...]: tensor" of \p count numbers that are no multiples of each
/// other, exact in every type.
std::string constantOf(int64_t count, const std::string &element) {
  bool isInteger = element.starts_with("i");
  std::string values;
  for (int64_t i = 0; i < count; ++i) {
    int64_t number = i * 37 % 29 - 14;
    values +=
        (i ? ", " : "") + (isInteger ? std::to_string(number)
                                     : std::to_string(double(number) / 16));
  }
  return "stablehlo.constant dense<[" + values + "]> : tensor<" +
         std::to_string(count) + "x" + element + ">\n";
}

std::string ConvolutionCase::constantKernel(const std::string &type) const {
  int64_t count = outputs * (features / featureGroups);
  for (int64_t size : window)
    count *= size;
  const std::string number = std::to_string(count);
  const std::string flat = "tensor<" + number + "x" + element + ">";
  bool isComplex = element.starts_with("complex");
  std::string text =
      "%flat = " + constantOf(count, isComplex ? "f32" : element);
  if (isComplex)
    text += "%turned = stablehlo.reverse %flat, dims = [0] : tensor<" + number +
            "xf32>\n%both = stablehlo.complex %flat, %turned : " + flat + "\n";
  return text + "%k = stablehlo.reshape " + (isComplex ? "%both" : "%flat") +
         " : (" + flat + ") -> " + type + "\n";
}

/// An argument of 8-bit integers as \p name of i32, from which a zero point is
/// taken.
std::string centred(const std::string &name, const std::string &narrow,
                    const std::string &wide) {
  return "%w" + name + " = stablehlo.convert %n" + name + " : (" + narrow +
         ") -> " + wide + "\n%z" + name +
         " = stablehlo.constant dense<3> : " + wide + "\n%" + name +
         " = stablehlo.subtract %w" + name + ", %z" + name + " : " + wide +
         "\n";
}

std::string ConvolutionCase::text() const {
  Shape results;
  for (size_t i = 0; i < sizes.size(); ++i)
    results.push_back(resultSize(i));
  auto typeOfX = [&](const std::string &element) {
    return type(inputOrder, batch, features, sizes, element);
  };
  auto typeOfK = [&](const std::string &element) {
    return type(kernelOrder, outputs, features / featureGroups, window,
                element);
  };
  std::string x = typeOfX(element), k = typeOfK(element);
  std::string r =
      type(resultOrder, batch / batchGroups, outputs, results, element);
  std::string pads, turned;
  for (size_t i = 0; i < sizes.size(); ++i) {
    pads += (i ? ", " : "") + list({low[i], high[i]});
    turned += std::string(i ? ", " : "") + (reversed[i] ? "true" : "false");
  }
  bool isInteger = element == "i32";
  std::string head = isInteger ? "(%nx: " + typeOfX("i8") : "(%x: " + x;
  std::string body = isInteger ? centred("x", typeOfX("i8"), x) : std::string();
  if (hasConstantKernel) {
    body += constantKernel(k);
  } else if (isInteger) {
    head += ", %nk: " + typeOfK("i8");
    body += centred("k", typeOfK("i8"), k);
  } else {
    head += ", %k: " + k;
  }
  std::string windowText =
      sizes.empty() ? ""
                    : "stride = " + list(strides) + ", pad = [" + pads +
                          "], lhs_dilate = " + list(baseDilations) +
                          ", rhs_dilate = " + list(windowDilations) +
                          ", reverse = [" + turned + "]";
  return head + ") -> " + r + " {\n" + body +
         "%r = stablehlo.convolution(%x, %k) dim_numbers = " +
         names(inputOrder, 'b', 'f') + "x" + names(kernelOrder, 'o', 'i') +
         "->" + names(resultOrder, 'b', 'f') + ", window = {" + windowText +
         "} {batch_group_count = " + std::to_string(batchGroups) +
         " : i64, feature_group_count = " + std::to_string(featureGroups) +
         " : i64} : (" + x + ", " + k + ") -> " + r + "\nreturn %r : " + r +
         "\n}";
}

Tolerance convolutionTolerance(const std::string &element) {
  if (element == "i32")
    return {0, 0};
  if (element == "f64")
    return {1e-12, 1e-12};
  if (element == "bf16")
    return {1e-2, 1e-2};
  return element == "f16" ? Tolerance{1e-3, 2e-3} : Tolerance{1e-4, 1e-4};
}

class ConvolutionGenerator {
public:
  explicit ConvolutionGenerator(unsigned seed) : random(seed) {}

  /// One with results.
  ConvolutionCase draw(const std::string &element) {
    while (true) {
      ConvolutionCase drawn = drawAny();
      drawn.element = element;
      int64_t results = 1;
      for (size_t i = 0; i < drawn.sizes.size(); ++i)
        results *= drawn.resultSize(i);
      if (results > 0 && results < 4000)
        return drawn;
    }
  }

private:
  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }
  bool oneIn(int64_t count) { return pick(1, count) == 1; }

  ConvolutionCase drawAny() {
    ConvolutionCase drawn(static_cast<size_t>(pick(0, 7) % 5));
    int64_t groups = oneIn(2) ? pick(2, 4) : 1;
    (oneIn(2) ? drawn.featureGroups : drawn.batchGroups) = groups;
    drawn.batch = pick(1, 3) * drawn.batchGroups;
    drawn.features = (oneIn(4) ? 17 : pick(1, 5)) * drawn.featureGroups;
    drawn.outputs = (oneIn(4) ? 18 : pick(1, 6)) * groups;
    drawn.hasConstantKernel = oneIn(2);
    const size_t spatial = drawn.sizes.size();
    for (size_t i = 0; i < spatial; ++i) {
      drawn.sizes[i] = pick(1, spatial > 2 ? 6 : 12);
      drawn.window[i] = pick(1, 4);
      drawn.strides[i] = oneIn(2) ? pick(1, 3) : 1;
      drawn.baseDilations[i] = oneIn(2) ? pick(1, 4) : 1;
      drawn.windowDilations[i] = oneIn(3) ? pick(1, 3) : 1;
      drawn.low[i] = oneIn(2) ? pick(-2, 6) : 0;
      drawn.high[i] = oneIn(2) ? pick(-2, 6) : 0;
      drawn.reversed[i] = oneIn(3);
    }
    for (auto *order :
         {&drawn.inputOrder, &drawn.kernelOrder, &drawn.resultOrder})
      if (oneIn(2))
        std::shuffle(order->begin(), order->end(), random);
    return drawn;
  }

  std::mt19937 random;
};

TEST(SimplifyConvolutions, RandomOnes) {
  const char *elements[] = {"f32", "f32",          "f32",  "f64", "f16",
                            "f32", "complex<f32>", "bf16", "i32"};
  int cases = 120;
  unsigned seed = 1;
  if (const char *asked = std::getenv("SINTER_CONVOLUTION_CASES"))
    cases = std::atoi(asked);
  if (const char *asked = std::getenv("SINTER_CONVOLUTION_SEED"))
    seed = static_cast<unsigned>(std::atoi(asked));
  ConvolutionGenerator generator(seed);
  for (int i = 0; i < cases; ++i) {
    ConvolutionCase drawn = generator.draw(elements[i % std::size(elements)]);
    EXPECT_EQ(differs(drawn.text(), convolutionTolerance(drawn.element)), "")
        << drawn.text();
  }
}

/// How many steps of \p program are kernels called \p name.
int64_t countSteps(const ConvolutionCase &test, const std::string &name) {
  Result<Program> program =
      cpu::compileForCpu(parseModel(test.text()), optionsWithoutMatrixUnits());
  EXPECT_TRUE(program) << program.error().message();
  int64_t count = 0;
  if (program)
    for (const Step &step : program->steps)
      count += step.kernelName == name;
  return count;
}

ConvolutionCase transposed(int64_t size, int64_t taps, int64_t low,
                           int64_t high) {
  ConvolutionCase test(2);
  test.features = 20;
  test.outputs = 32;
  for (int i = 0; i < 2; ++i) {
    test.sizes[i] = size;
    test.window[i] = taps;
    test.baseDilations[i] = 2;
    test.low[i] = low;
    test.high[i] = high;
    test.reversed[i] = 1;
  }
  return test;
}

TEST(SimplifyConvolutions, TransposedAreOneConvolutionOrOneAPhase) {
  // All phases have two taps a dimension.
  ConvolutionCase even = transposed(24, 4, 2, 2);
  EXPECT_EQ(differs(even.text(), {}, nullptr, hostWithoutMatrixUnits()), "");
  EXPECT_EQ(countSteps(even, "direct"), 1);
  // One or two taps.
  ConvolutionCase odd = transposed(24, 3, 1, 2);
  EXPECT_EQ(
      differs(odd.text(), {1e-4, 1e-4}, nullptr, hostWithoutMatrixUnits()), "");
  EXPECT_EQ(countSteps(odd, "direct"), 4);
}

TEST(SimplifyConvolutions, ThreeDimensionsAreOneOfTwo) {
  ConvolutionCase test(3);
  test.features = 6;
  test.outputs = 16;
  test.sizes = {5, 9, 9};
  test.window = {3, 3, 3};
  test.low = test.high = {1, 1, 1};
  EXPECT_EQ(
      differs(test.text(), {1e-4, 1e-4}, nullptr, hostWithoutMatrixUnits()),
      "");
  // One convolution, for which Winograd's method may take three steps.
  EXPECT_TRUE(countSteps(test, "direct") == 1 ||
              countSteps(test, "winograd") == 1 ||
              countSteps(test, "winograd") == 3);
}

/// Windows of one dimension, as those along the time of videos: the others are
/// one.
TEST(SimplifyConvolutions, PixelsByThemselvesAreOneDimension) {
  for (const int64_t along : {0, 2})
    for (const int64_t stride : {1, 2}) {
      ConvolutionCase test(3);
      test.batch = 2;
      test.features = 20;
      test.outputs = 17;
      test.sizes = {5, 6, 7};
      test.window[along] = 3;
      test.strides[along] = stride;
      test.low[along] = test.high[along] = 1;
      EXPECT_EQ(
          differs(test.text(), {1e-4, 1e-4}, nullptr, hostWithoutMatrixUnits()),
          "");
      EXPECT_EQ(countSteps(test, "direct"), 1);
    }
}

TEST(SimplifyConvolutions, DoublesAreProducts) {
  ConvolutionCase test(2);
  test.batch = 2;
  test.features = 6;
  test.outputs = 16;
  test.sizes = {9, 9};
  test.window = {3, 3};
  test.element = "f64";
  EXPECT_EQ(differs(test.text(), convolutionTolerance("f64")), "");
  EXPECT_EQ(countSteps(test, "matmul"), 1);
}

TEST(SimplifyConvolutions, AFewProductsAreSummedAsDefined) {
  ConvolutionCase line(1);
  line.batch = 2;
  line.features = line.featureGroups = 3;
  line.outputs = 12;
  line.sizes = {9};
  line.window = {3};
  line.windowDilations = {2};
  line.hasConstantKernel = false;
  EXPECT_EQ(differs(line.text(), {0, 0}), "");
  EXPECT_EQ(countSteps(line, "direct"), 0);
  ConvolutionCase plane(2);
  plane.outputs = 2;
  plane.sizes = {5, 5};
  plane.window = {3, 3};
  plane.low = plane.high = {1, 1};
  EXPECT_EQ(differs(plane.text(), {0, 0}), "");
  EXPECT_EQ(countSteps(plane, "direct"), 0);
}

TEST(SimplifyConvolutions, SmallIntegersAreFloats) {
  ConvolutionCase test(2);
  test.features = 130;
  test.outputs = 16;
  test.sizes = {6, 6};
  test.window = {3, 3};
  test.element = "i32";
  // Sums of constants that are small are exact in f32; of any two bytes those
  // of 111 channels are.
  EXPECT_EQ(differs(test.text(), {0, 0}), "");
  EXPECT_EQ(countSteps(test, "direct"), 1);
  test.hasConstantKernel = false;
  EXPECT_EQ(differs(test.text(), {0, 0}), "");
  EXPECT_EQ(countSteps(test, "direct"), 2);
}

TEST(SimplifyConvolutions, InLoopsAndBranches) {
  const std::string text = R"((%x: tensor<1x16x6x6xf32>,
      %k: tensor<16x16x3x3xf32>, %c: tensor<i1>) -> tensor<1x16x6x6xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %three = stablehlo.constant dense<3> : tensor<i32>
    %r:2 = stablehlo.while(%i = %zero, %y = %x)
        : tensor<i32>, tensor<1x16x6x6xf32>
    cond {
      %go = stablehlo.compare LT, %i, %three
          : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    } do {
      %n = stablehlo.add %i, %one : tensor<i32>
      %s = stablehlo.convolution(%y, %k)
          dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
          window = {pad = [[1, 1], [1, 1]]}
          {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
          : (tensor<1x16x6x6xf32>, tensor<16x16x3x3xf32>)
          -> tensor<1x16x6x6xf32>
      %t = stablehlo.tanh %s : tensor<1x16x6x6xf32>
      stablehlo.return %n, %t : tensor<i32>, tensor<1x16x6x6xf32>
    }
    %b = "stablehlo.if"(%c) ({
      %u = stablehlo.convolution(%r#1, %k)
          dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
          window = {pad = [[1, 2], [1, 2]], lhs_dilate = [2, 2],
                    stride = [2, 2]}
          {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
          : (tensor<1x16x6x6xf32>, tensor<16x16x3x3xf32>)
          -> tensor<1x16x6x6xf32>
      stablehlo.return %u : tensor<1x16x6x6xf32>
    }, {
      stablehlo.return %r#1 : tensor<1x16x6x6xf32>
    }) : (tensor<i1>) -> tensor<1x16x6x6xf32>
    return %b : tensor<1x16x6x6xf32>
  })";
  EXPECT_EQ(differs(text, {1e-4, 1e-4}), "");
}

/// Numbers that no sensible convolution has stay with the loops.
TEST(SimplifyConvolutions, ManyPhasesAndLongWindows) {
  ConvolutionCase phases(1);
  phases.sizes = {3};
  phases.window = {2};
  phases.baseDilations = {1000};
  phases.low = {1};
  EXPECT_EQ(differs(phases.text()), "");
  ConvolutionCase far(1);
  far.sizes = {3};
  far.window = {3};
  far.baseDilations = {2};
  far.low = {-(int64_t(1) << 40)};
  far.high = {int64_t(1) << 40};
  EXPECT_EQ(differs(far.text()), "");
  ConvolutionCase taps(1);
  taps.sizes = {400};
  taps.window = {200};
  taps.outputs = 5;
  taps.element = "f64";
  EXPECT_EQ(differs(taps.text(), convolutionTolerance("f64")), "");
}

} // namespace
