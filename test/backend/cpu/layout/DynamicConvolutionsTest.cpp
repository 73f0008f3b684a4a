//===- DynamicConvolutionsTest.cpp - convolutions of any form, of dynamic sizes
//---===//
//
// Convolutions that become others or products before a kernel computes them, of
// any number of images and of any depths, heights and widths.
//
//===----------------------------------------------------------------------===//
//
// Covers: backend/cpu/layout DynamicWindows

#include "backend/cpu/DynamicCase.h"
#include "backend/cpu/ProgramText.h"
#include "backend/cpu/WithoutMatrixUnits.h"

using namespace sinter;
using namespace sinter::test;

namespace {

/// A convolution of images [N, C, spatial...] by constant weights.
struct DynamicConvolution {
  std::string name;
  /// `batch` and `length` where sizes are dynamic.
  std::vector<int64_t> input;
  /// [K, C / groups, window...]
  std::vector<int64_t> kernel;
  std::vector<int64_t> lengths;
  std::string element = "f32";
  struct Window {
    int64_t stride = 1, low = 0, high = 0, base = 1, dilation = 1;
  };
  /// One a spatial dimension; those that are missing are all 1 and 0.
  std::vector<Window> windows = {};
  int64_t groups = 1;
  /// Whether a program of the last of the lengths gives the same bits. One of
  /// fewer products may take them in loops, and round each.
  bool isAsClosed = true;
  double relative = 3e-5, absolute = 1e-5;

  Window window(size_t i) const {
    return i < windows.size() ? windows[i] : Window();
  }
};

void PrintTo(const DynamicConvolution &test, std::ostream *os) {
  *os << test.name;
}

std::string listOf(size_t count, const std::function<std::string(size_t)> &at) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += (i ? ", " : "") + at(i);
  return "[" + text + "]";
}

DynamicCase caseOf(const DynamicConvolution &test) {
  const size_t rank = test.input.size() - 2;
  std::vector<int64_t> result = {test.input[0], test.kernel[0]};
  for (size_t i = 0; i < rank; ++i) {
    const DynamicConvolution::Window w = test.window(i);
    const int64_t size = test.input[i + 2];
    result.push_back(size < 0 ? size
                              : ((size - 1) * w.base + 1 + w.low + w.high -
                                 (test.kernel[i + 2] - 1) * w.dilation - 1) /
                                        w.stride +
                                    1);
  }
  auto numbers = [&](const std::string &first, const std::string &second) {
    return listOf(rank + 2, [&](size_t i) {
      return i == 0 ? first : i == 1 ? second : std::to_string(i - 2);
    });
  };
  auto each =
      [&](const std::function<int64_t(DynamicConvolution::Window)> &get) {
        return listOf(rank, [&](size_t i) {
          return std::to_string(get(test.window(i)));
        });
      };
  const std::string x = typeOf(test.input, test.element),
                    k = typeOf(test.kernel, test.element),
                    y = typeOf(result, test.element), f = typeOf(result, "f32");
  const bool isInteger = test.element[0] == 'i';
  const std::string weights =
      isInteger ? "%s = stablehlo.iota dim = 1 : " + k +
                      "\n %t = stablehlo.multiply %i, %s : " + k +
                      "\n %w = stablehlo.subtract %t, %i : " + k
                : "%w = stablehlo.sine %i : " + k;
  const std::string plain = typeOf(test.input, "f32");
  std::string body =
      "(" + argument("%x", test.input) + ") -> " + f +
      " {\n %e = stablehlo.exponential %x : " + plain +
      "\n %g = stablehlo.multiply %e, %x : " + plain +
      "\n %c = stablehlo.convert %g : (" + plain + ") -> " + x +
      "\n %i = stablehlo.iota dim = 0 : " + k + "\n " + weights +
      "\n %y = stablehlo.convolution(%c, %w) dim_numbers = " +
      numbers("b", "f") + "x" + numbers("o", "i") + "->" + numbers("b", "f") +
      ", window = {stride = " + each([](auto w) { return w.stride; }) +
      ", pad = " +
      listOf(rank,
             [&](size_t i) {
               return "[" + std::to_string(test.window(i).low) + ", " +
                      std::to_string(test.window(i).high) + "]";
             }) +
      ", lhs_dilate = " + each([](auto w) { return w.base; }) +
      ", rhs_dilate = " + each([](auto w) { return w.dilation; }) +
      "} {batch_group_count = 1 : i64, feature_group_count = " +
      std::to_string(test.groups) + " : i64} : (" + x + ", " + k + ") -> " + y +
      "\n %r = stablehlo.convert %y : (" + y + ") -> " + f +
      "\n return %r : " + f + "\n}";
  return {test.name,
          body,
          {test.input},
          test.lengths,
          test.isAsClosed,
          test.relative,
          test.absolute,
          /*closedFrom=*/test.lengths.back()};
}

const DynamicConvolution convolutions[] = {
    // Products.
    {"f64 of any height",
     {batch, 3, length, 9},
     {8, 3, 3, 3},
     {1, 2, 9, 20},
     "f64",
     {{1, 1, 1}, {2, 1, 1}}},
    {"f64 of any number of images", {batch, 5, 7, 6}, {6, 5, 3, 2}, {1}, "f64"},
    {"f64 of any height and width",
     {batch, 3, length, length},
     {5, 3, 3, 2},
     {2, 3, 11},
     "f64",
     {{2, 1, 1}, {3, 0, 1, 1, 2}}},
    {"f64 of one dimension",
     {batch, 3, length},
     {4, 3, 3},
     {1, 2, 40},
     "f64",
     {{1, 1, 1}}},
    {"f64 in groups",
     {batch, 6, length, 5},
     {8, 3, 3, 3},
     {3, 9},
     "f64",
     {},
     2},
    {"f64, channel by channel",
     {batch, 4, length, 5},
     {4, 1, 3, 3},
     {3, 9},
     "f64",
     {},
     4},
    {"f64 with few results",
     {batch, 4, length, 5},
     {2, 4, 3, 3},
     {3, 9},
     "f64"},
    {"f64, cropped",
     {batch, 3, length, 9},
     {8, 3, 2, 3},
     {4, 9},
     "f64",
     {{1, -1, -1}, {1, -2, 1}}},
    {"without pixels", {batch, 9}, {8, 9}, {1}},
    {"f64 without pixels", {batch, 9}, {8, 9}, {1}, "f64"},
    {"i32", {batch, 3, length, 9}, {8, 3, 3, 3}, {1, 9}, "i32", {{1, 1, 1}}},
    // Three and more dimensions.
    {"of any depth",
     {batch, 3, length, 8, 9},
     {8, 3, 3, 3, 3},
     {1, 2, 9},
     "f32",
     {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}},
    {"of any depth, height and width",
     {batch, 3, length, length, length},
     {8, 3, 3, 3, 3},
     {3, 4, 9, 20},
     "f32",
     {{2, 1, 1}, {1, 0, 1, 1, 2}, {2}}},
    {"of any number of volumes", {batch, 3, 5, 6, 4}, {8, 3, 3, 2, 3}, {1}},
    {"volumes of f64",
     {batch, 3, length, 4, 5},
     {8, 3, 3, 2, 3},
     {3, 7},
     "f64",
     {{2, 1, 1}}},
    {"volumes of f16",
     {batch, 3, length, 4, 5},
     {8, 3, 3, 2, 3},
     {3, 7},
     "f16",
     {{2, 1, 1}},
     1,
     true,
     4e-3,
     4e-3},
    {"volumes in groups",
     {batch, 8, length, 4, 5},
     {8, 4, 3, 2, 3},
     {3, 7},
     "f32",
     {{1, 1, 1}},
     2},
    {"volumes, channel by channel",
     {batch, 16, length, 4, 5},
     {16, 1, 3, 2, 3},
     {1, 3, 8},
     "f32",
     {{2, 1, 1, 1, 1}, {1, 1, 0}},
     16},
    {"volumes of i32",
     {batch, 3, length, 4, 5},
     {8, 3, 3, 2, 3},
     {3, 7},
     "i32"},
    {"four dimensions",
     {batch, 2, length, 3, 4, 5},
     {4, 2, 2, 2, 3, 3},
     {2, 5},
     "f32",
     {{1, 1, 0}, {1, 0, 1}}},
    // Dilated inputs.
    {"transposed",
     {batch, 16, length, 7},
     {8, 16, 4, 4},
     {1, 2, 30},
     "f32",
     {{1, 2, 2, 2}, {1, 2, 2, 2}}},
    {"transposed, of any height and width",
     {batch, 4, length, length},
     {20, 4, 3, 3},
     {1, 2, 30},
     "f32",
     {{1, 1, 2, 2}, {1, 2, 1, 2}}},
    {"transposed of one dimension",
     {batch, 4, length},
     {20, 4, 5},
     {1, 2, 90},
     "f32",
     {{1, 4, 4, 3}}},
    {"transposed, with gaps",
     {batch, 4, length, 5},
     {6, 4, 2, 2},
     {1, 2, 30},
     "f32",
     {{1, 1, 3, 3}, {1, 1, 1, 3}}},
    {"transposed and dilated",
     {batch, 4, length, 5},
     {6, 4, 3, 3},
     {2, 9, 30},
     "f32",
     {{1, 2, 4, 2, 3}, {1, 2, 2, 3, 2}}},
    {"transposed and cropped",
     {batch, 4, length, 5},
     {6, 4, 3, 3},
     {2, 9, 30},
     "f32",
     {{1, -1, 2, 2}, {1, 2, -1, 2}}},
    {"transposed with strides",
     {batch, 4, length, 5},
     {6, 4, 3, 3},
     {2, 9, 30},
     "f32",
     {{1, 1, 1, 2}, {2, 1, 1, 3}}},
    {"transposed with open strides",
     {batch, 4, length, 5},
     {6, 4, 3, 3},
     {2, 9, 30},
     "f32",
     {{2, 1, 1, 3}, {1, 1, 1, 2}},
     1,
     false},
    {"transposed in groups",
     {batch, 8, length, 5},
     {12, 4, 3, 3},
     {2, 9, 30},
     "f32",
     {{1, 1, 1, 2}, {1, 1, 1, 2}},
     2},
    {"transposed, channel by channel",
     {batch, 16, length, 5},
     {16, 1, 3, 3},
     {2, 9, 30},
     "f32",
     {{1, 1, 2, 2}, {1, 2, 1, 2}},
     16},
    {"transposed of f64",
     {batch, 4, length, 5},
     {6, 4, 3, 3},
     {2, 9, 30},
     "f64",
     {{1, 1, 2, 2}, {1, 2, 1, 2}}},
    {"transposed volumes",
     {batch, 4, length, 5, 3},
     {6, 4, 3, 3, 2},
     {2, 5},
     "f32",
     {{1, 1, 2, 2}, {1, 2, 1, 2}, {1, 1, 1, 2}}},
    {"transposed, of many phases",
     {batch, 2, length, 3},
     {4, 2, 3, 3},
     {2, 5},
     "f32",
     {{1, 2, 2, 9}, {1, 2, 2, 9}},
     1,
     false},
};

/// The gradient of weights [K, C / groups, taps...] of a convolution of images
/// [N, C, spatial...], by one of its results, [N, K, spatial...].
struct DynamicGradient {
  std::string name;
  std::vector<int64_t> input, gradient, taps;
  std::string element = "f32";
  int64_t stride = 1, padding = 0;
  /// Groups of images, one a channel.
  bool isDepthwise = false;
  double relative = 1e-4, absolute = 1e-4;
};

void PrintTo(const DynamicGradient &test, std::ostream *os) {
  *os << test.name;
}

std::string textOf(const DynamicGradient &test) {
  const size_t rank = test.taps.size();
  const int64_t groups = test.isDepthwise ? test.input[1] : 1;
  std::vector<int64_t> result = {test.gradient[1], test.input[1] / groups};
  result.insert(result.end(), test.taps.begin(), test.taps.end());
  auto numbers = [&](const std::string &first, const std::string &second) {
    return listOf(rank + 2, [&](size_t i) {
      return i == 0 ? first : i == 1 ? second : std::to_string(i - 2);
    });
  };
  const std::string x = typeOf(test.input, test.element),
                    g = typeOf(test.gradient, test.element),
                    y = typeOf(result, test.element), f = typeOf(result, "f32");
  return "(" + argument("%x", test.input) + ", " +
         argument("%g", test.gradient) + ") -> " + f +
         " {\n %cx = stablehlo.convert %x : (" + typeOf(test.input, "f32") +
         ") -> " + x + "\n %cg = stablehlo.convert %g : (" +
         typeOf(test.gradient, "f32") + ") -> " + g +
         "\n %y = stablehlo.convolution(%cx, %cg) dim_numbers = " +
         numbers("f", "b") + "x" + numbers("i", "o") + "->" +
         numbers("f", "b") + ", window = {pad = " +
         listOf(rank,
                [&](size_t i) {
                  // What is behind follows from the number of taps.
                  const int64_t reach =
                      (test.gradient[i + 2] - 1) * test.stride + 1;
                  return "[" + std::to_string(test.padding) + ", " +
                         std::to_string(test.taps[i] - 1 + reach -
                                        test.input[i + 2] - test.padding) +
                         "]";
                }) +
         ", rhs_dilate = " +
         listOf(rank, [&](size_t) { return std::to_string(test.stride); }) +
         "} {batch_group_count = " + std::to_string(groups) +
         " : i64, feature_group_count = 1 : i64} : (" + x + ", " + g + ") -> " +
         y + "\n %r = stablehlo.convert %y : (" + y + ") -> " + f +
         "\n return %r : " + f + "\n}";
}

const DynamicGradient gradients[] = {
    {"of a window", {batch, 5, 9, 8}, {batch, 7, 9, 8}, {3, 3}, "f32", 1, 1},
    {"of many channels",
     {batch, 40, 6, 6},
     {batch, 70, 6, 6},
     {3, 3},
     "f32",
     1,
     1},
    {"with strides", {batch, 5, 9, 8}, {batch, 7, 5, 4}, {3, 3}, "f32", 2, 1},
    {"of a pixel", {batch, 20, 5, 8}, {batch, 33, 5, 8}, {1, 1}},
    {"channel by channel",
     {batch, 20, 9, 8},
     {batch, 20, 9, 8},
     {3, 3},
     "f32",
     1,
     1,
     true},
    {"of large windows", {batch, 3, 20, 20}, {batch, 8, 6, 6}, {15, 15}},
    {"of one dimension", {batch, 5, 30}, {batch, 7, 30}, {3}, "f32", 1, 1},
    {"of volumes", {batch, 3, 5, 6, 4}, {batch, 4, 3, 4, 2}, {3, 3, 3}},
    {"of f64", {batch, 5, 9, 8}, {batch, 7, 9, 8}, {3, 3}, "f64", 1, 1},
    {"of f64, channel by channel",
     {batch, 6, 9, 8},
     {batch, 6, 9, 8},
     {3, 3},
     "f64",
     1,
     1,
     true},
    {"of f16",
     {batch, 5, 9, 8},
     {batch, 7, 9, 8},
     {3, 3},
     "f16",
     1,
     1,
     false,
     1e-2,
     1e-1},
};

/// A convolution of %x by %k, of which the window or the number of results is
/// open, too.
struct DynamicKernel {
  std::string name;
  std::vector<int64_t> input, kernel;
  std::vector<int64_t> lengths;
  /// `dim_numbers = ..., window = ...`, and the groups of features and images.
  std::string form;
  /// The result's shape.
  std::string result;
  int64_t groups = 1, imageGroups = 1;
  std::string element = "f32";
  double relative = 3e-5, absolute = 1e-5;
};

void PrintTo(const DynamicKernel &test, std::ostream *os) { *os << test.name; }

constexpr const char *planes = "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]";

const DynamicKernel dynamicKernels[] = {
    {"square",
     {batch, 3, 9, 8},
     {5, 3, length, length},
     {1, 2, 5, 8},
     planes + std::string(", window = {}"),
     "?x5x?x?"},
    {"padding and strides",
     {batch, 3, 9, 8},
     {5, 3, 3, length},
     {1, 2, 3, 7},
     planes +
         std::string(", window = {stride = [2, 3], pad = [[1, 1], [2, 0]], "
                     "rhs_dilate = [2, 1]}"),
     "?x5x4x?"},
    {"dilated windows",
     {batch, 2, 9, 14},
     {4, 2, 2, length},
     {1, 2, 4},
     planes + std::string(", window = {stride = [1, 2], rhs_dilate = [1, 3]}"),
     "?x4x8x?"},
    {"groups",
     {batch, 6, 7, 8},
     {4, 3, length, 2},
     {1, 3, 7},
     planes + std::string(", window = {pad = [[0, 0], [1, 0]]}"),
     "?x4x?x8",
     2},
    {"channel by channel",
     {batch, 4, 7, 8},
     {4, 1, length, length},
     {1, 3, 7},
     planes + std::string(", window = {}"),
     "?x4x?x?",
     4},
    {"groups of images",
     {6, 2, 7, 8},
     {6, 2, length, 2},
     {1, 3, 7},
     planes + std::string(", window = {}"),
     "2x6x?x7",
     1,
     3},
    {"reversed, of a dilated input",
     {batch, 3, 4, 5},
     {2, 3, length, 3},
     {1, 2, 4},
     planes +
         std::string(", window = {pad = [[2, 2], [2, 2]], lhs_dilate = [2, "
                     "3], reverse = [true, true]}"),
     "?x2x?x15"},
    {"any number of results",
     {batch, 3, 6, 5},
     {length, 3, 3, 2},
     {1, 2, 17},
     planes + std::string(", window = {}"),
     "?x?x4x4"},
    {"any number of results, in groups",
     {batch, 6, 6, 5},
     {length, 3, 3, 2},
     {2, 4, 34},
     planes + std::string(", window = {}"),
     "?x?x4x4",
     2},
    {"any number of channels, of a dilated input",
     {batch, length, 5, 4},
     {3, length, 3, 2},
     {1, 2, 9},
     planes + std::string(", window = {pad = [[2, 2], [1, 1]], lhs_dilate = "
                          "[2, 3]}"),
     "?x3x11x11"},
    {"channels last",
     {batch, 7, 8, 3},
     {length, length, 3, 4},
     {1, 2, 7},
     "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}",
     "?x?x?x4"},
    {"a line",
     {batch, 3, 40},
     {4, 3, length},
     {1, 7, 40},
     "[b, f, 0]x[o, i, 0]->[b, f, 0], window = {pad = [[3, 3]]}",
     "?x4x?"},
    {"a volume",
     {batch, 2, 4, 5, 6},
     {3, 2, 2, length, 3},
     {1, 2, 5},
     "[b, f, 0, 1, 2]x[o, i, 0, 1, 2]->[b, f, 0, 1, 2], window = {}",
     "?x3x3x?x4"},
    {"f64",
     {batch, 3, 9, 8},
     {5, 3, length, length},
     {1, 2, 8},
     planes + std::string(", window = {}"),
     "?x5x?x?",
     1,
     1,
     "f64"},
    {"f16",
     {batch, 3, 9, 8},
     {5, 3, length, length},
     {1, 2, 8},
     planes + std::string(", window = {}"),
     "?x5x?x?",
     1,
     1,
     "f16",
     1e-2,
     1e-1},
    {"i32",
     {batch, 3, 9, 8},
     {5, 3, length, length},
     {1, 2, 8},
     planes + std::string(", window = {}"),
     "?x5x?x?",
     1,
     1,
     "i32"},
};

std::string textOf(const DynamicKernel &test) {
  const std::string x = typeOf(test.input, test.element),
                    k = typeOf(test.kernel, test.element),
                    y = "tensor<" + test.result + "x" + test.element + ">",
                    f = "tensor<" + test.result + "xf32>";
  auto given = [&](const char *name, const std::vector<int64_t> &shape,
                   const std::string &type) {
    const std::string plainType = typeOf(shape, "f32");
    // Integers are few numbers.
    return std::string(" %") + name + "3 = stablehlo.add %" + name + ", %" +
           name + " : " + plainType + "\n %" + name +
           "c = stablehlo.convert %" + name + "3 : (" + plainType + ") -> " +
           type + "\n";
  };
  return "(" + argument("%x", test.input) + ", " + argument("%k", test.kernel) +
         ") -> " + f + " {\n" + given("x", test.input, x) +
         given("k", test.kernel, k) +
         " %y = stablehlo.convolution(%xc, %kc) dim_numbers = " + test.form +
         " {batch_group_count = " + std::to_string(test.imageGroups) +
         " : i64, feature_group_count = " + std::to_string(test.groups) +
         " : i64} : (" + x + ", " + k + ") -> " + y +
         "\n %r = stablehlo.convert %y : (" + y + ") -> " + f +
         "\n return %r : " + f + "\n}";
}

class DynamicKernels : public ::testing::TestWithParam<DynamicKernel> {};

class DynamicGradients : public ::testing::TestWithParam<DynamicGradient> {};

class ConvolutionsOfDynamicSize
    : public ::testing::TestWithParam<DynamicConvolution> {};

} // namespace

TEST_P(ConvolutionsOfDynamicSize, AreRunByOneProgram) {
  checkProgram(caseOf(GetParam()), {});
}

INSTANTIATE_TEST_SUITE_P(Open, ConvolutionsOfDynamicSize,
                         ::testing::ValuesIn(convolutions));

TEST_P(DynamicKernels, AreRunByOneProgram) {
  const std::string body = textOf(GetParam());
  Model model = parseModel(body);
  ASSERT_TRUE(model.entry()) << body;
  auto program = compileRaised(body);
  ASSERT_TRUE(program) << program.error().message();
  ASSERT_TRUE(program->dynamic);
  auto shared = std::make_shared<const Program>(std::move(*program));
  std::vector<std::unique_ptr<ProgramExecutor>> executors;
  for (int threads : {1, 2})
    executors.push_back(std::move(*ProgramExecutor::create(
        shared, std::make_shared<ThreadPool>(threads))));
  DynamicCase test;
  test.inputs = {GetParam().input, GetParam().kernel};
  for (int64_t n : {2, 1, 0, 5})
    for (int64_t s : GetParam().lengths) {
      SCOPED_TRACE("N = " + std::to_string(n) + ", S = " + std::to_string(s));
      const std::vector<Tensor> inputs = inputsOf(test, n, s);
      auto expected = interpret(model.entry(), inputs);
      ASSERT_TRUE(expected) << expected.error().message();
      auto got = executors[0]->run(inputs);
      ASSERT_TRUE(got) << got.error().message();
      expectClose((*got)[0], (*expected)[0], GetParam().relative,
                  GetParam().absolute);
      auto again = executors[1]->run(inputs);
      ASSERT_TRUE(again) << again.error().message();
      EXPECT_TRUE(isSame((*got)[0], (*again)[0])) << "two threads";
      for (int64_t i = 0; GetParam().input[0] == batch && i < n; ++i) {
        auto one = executors[1]->run(
            std::vector<Tensor>{sampleOf(inputs[0], i), inputs[1]});
        ASSERT_TRUE(one) << one.error().message();
        EXPECT_TRUE(isSame((*one)[0], sampleOf((*got)[0], i)))
            << "sample " << i << " alone";
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Open, DynamicKernels,
                         ::testing::ValuesIn(dynamicKernels));

TEST_P(DynamicGradients, AreRunByOneProgram) {
  const std::string body = textOf(GetParam());
  Model model = parseModel(body);
  ASSERT_TRUE(model.entry()) << body;
  auto program = compileRaised(body, optionsWithoutMatrixUnits());
  ASSERT_TRUE(program) << program.error().message();
  ASSERT_TRUE(program->dynamic);
  auto shared = std::make_shared<const Program>(std::move(*program));
  std::vector<std::unique_ptr<ProgramExecutor>> executors;
  for (int threads : {1, 2})
    executors.push_back(std::move(*ProgramExecutor::create(
        shared, std::make_shared<ThreadPool>(threads))));
  DynamicCase test;
  test.inputs = {GetParam().input, GetParam().gradient};
  for (int64_t n : {2, 1, 3, 0, 17, 40}) {
    SCOPED_TRACE("N = " + std::to_string(n));
    const std::vector<Tensor> inputs = inputsOf(test, n, 0);
    auto expected = interpret(model.entry(), inputs);
    ASSERT_TRUE(expected) << expected.error().message();
    auto got = executors[0]->run(inputs);
    ASSERT_TRUE(got) << got.error().message();
    expectClose((*got)[0], (*expected)[0], GetParam().relative,
                GetParam().absolute);
    auto again = executors[1]->run(inputs);
    ASSERT_TRUE(again) << again.error().message();
    EXPECT_TRUE(isSame((*got)[0], (*again)[0])) << "two threads";
  }
}

INSTANTIATE_TEST_SUITE_P(Open, DynamicGradients,
                         ::testing::ValuesIn(gradients));
