// Convolutions of images of open number and area by the instructions of matrix
// units, which are emulated: one program for all sizes, against the oracle,
// with the same bits on any number of threads, in any company, and from
// programs of known sizes.
//
// Covers: backend/cpu/kernels/amx DynamicImageTasks StageConvolution
// Covers: backend/cpu/kernels/amx TileConvolution

#include "backend/cpu/DynamicImages.h"
#include "backend/cpu/TileTests.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

using namespace sinter;
using namespace sinter::test;

namespace {

/// The machine that we run on with matrix units, which are chosen. Its cache
/// holds some rows of an image, and panels of weights are worth a task each.
cpu::CpuOptions optionsFor(Precision precision, int64_t cacheBytes) {
  cpu::CpuOptions options;
  options.target = cpu::hostWithTiles();
  cpu::preferTiles(*options.target);
  options.target->l2Bytes = cacheBytes;
  options.target->rates.memory = 1e8;
  options.precision = precision;
  options.onCode = cpu::emulateTiles;
  return options;
}

struct DynamicTileLayer {
  std::string name;
  int64_t inputs, outputs;
  ImageText::Window window;
  int64_t cacheBytes = 64 << 10;
};

/// Of a batch of images, and their height and width.
using ImageSizes = std::array<int64_t, 3>;
/// The text of a program for these, or for any number of images of any size.
using ProgramText = std::function<std::string(bool opensBatch, bool opensArea,
                                              const ImageSizes &sizes)>;

ProgramText textOf(const DynamicTileLayer &layer) {
  return [layer](bool opensBatch, bool opensArea, const ImageSizes &sizes) {
    const auto [batch, height, width] = sizes;
    ImageText text(opensBatch, opensArea, batch);
    const ImageText::Image x = text.input(layer.inputs, height, width);
    return text.finish(
        text.relu(text.bias(text.convolution(x, layer.outputs, layer.window))));
  };
}

std::shared_ptr<const Program> programOf(const std::string &text,
                                         const cpu::CpuOptions &options) {
  auto program = compileRaised(text, options);
  EXPECT_TRUE(program) << program.error().message() << "\n" << text;
  return program ? std::make_shared<const Program>(std::move(*program))
                 : nullptr;
}

/// Kernels of convolutions.
std::string kernelsOf(const Program &program) {
  std::string names;
  for (const Step &step : program.steps)
    if (step.kernelName != "loops")
      names += (names.empty() ? "" : " ") + step.kernelName;
  return names;
}

void expectNear(const Tensor &got, const Tensor &expected, double error) {
  ASSERT_EQ(got.shape(), expected.shape());
  double greatest = 0;
  for (int64_t i = 0; i < expected.size(); ++i)
    greatest = std::max(greatest, std::abs(expected.toDouble(i)));
  for (int64_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got.toDouble(i), expected.toDouble(i), 1e-6 + error * greatest)
        << "element " << i;
}

struct PrecisionCase {
  Precision precision;
  std::string kernel;
  double error;
};
const PrecisionCase dynamicTilePrecisions[] = {
    {Precision::Default, "tiles-split3", 3e-4},
    {Precision::Exact, "tiles-split6", 3e-5},
    {Precision::BFloat16, "tiles-bf16", 3e-2}};

/// The program of dynamic sizes for images of each of \p sizes, of so many
/// channels of numbers of \p type; \p kernels compute it, if there are any.
void check(const ProgramText &textOf, int64_t channels, ElementType type,
           const cpu::CpuOptions &options, const std::string &kernels,
           double error, bool opensArea, llvm::ArrayRef<ImageSizes> all) {
  const std::string text = textOf(/*opensBatch=*/true, opensArea, all.front());
  Model model = parseModel(text);
  auto program = programOf(text, options);
  ASSERT_TRUE(program && program->dynamic && model.entry());
  EXPECT_TRUE(kernels.empty() || kernels == kernelsOf(*program))
      << kernelsOf(*program);
  auto one = executorOf(program, 1), two = executorOf(program, 2);
  for (const ImageSizes &sizes : all) {
    const auto [batch, height, width] = sizes;
    SCOPED_TRACE(std::to_string(batch) + " of " + std::to_string(height) + "x" +
                 std::to_string(width));
    Tensor images(type, {batch, channels, height, width});
    fillRandom(images, 3);
    const Tensor got = resultOf(*two, images);
    auto expected = interpret(model.entry(), {images});
    ASSERT_TRUE(expected) << expected.error().message();
    expectNear(got, (*expected)[0], error);
    EXPECT_TRUE(haveSameBits(got, resultOf(*one, images))) << "one thread";
    if (got.size() == 0)
      continue;
    EXPECT_TRUE(haveSameBits(resultOf(*one, partOf(images, batch - 1, batch)),
                             partOf(got, batch - 1, batch)))
        << "alone";
    auto known = programOf(textOf(false, false, sizes), options);
    ASSERT_TRUE(known && !known->dynamic);
    EXPECT_TRUE(haveSameBits(got, resultOf(*executorOf(known, 1), images)))
        << "of a program for these sizes";
  }
}

void check(const DynamicTileLayer &layer, const PrecisionCase &of,
           bool opensArea, llvm::ArrayRef<ImageSizes> all) {
  check(textOf(layer), layer.inputs, ElementType::F32,
        optionsFor(of.precision, layer.cacheBytes), of.kernel, of.error,
        opensArea, all);
}

const DynamicTileLayer layers[] = {
    {"windows", 40, 70, {}},
    {"one panel of weights", 33, 20, {}},
    {"windows in rectangles", 20, 36, {}, 16 << 10},
    {"strides", 40, 33, {.stride = 2}},
    {"large strides", 16, 48, {.size = 2, .stride = 3, .padding = 0}},
    {"large windows", 20, 36, {.size = 5, .padding = 2}},
    {"no padding", 36, 40, {.padding = 0}},
    {"dilated", 16, 20, {.padding = 3, .dilation = 3}},
    {"pixels", 70, 40, {.size = 1, .padding = 0}},
    {"pixels in parts", 70, 40, {.size = 1, .padding = 0}, 4 << 10},
    {"pixels apart", 40, 36, {.size = 1, .stride = 2, .padding = 0}},
    {"padded pixels", 40, 36, {.size = 1}},
    {"groups", 64, 64, {.groups = 4}},
    {"groups of many channels", 128, 128, {.stride = 2, .groups = 2}}};

class DynamicTileLayers : public ::testing::TestWithParam<DynamicTileLayer> {};

} // namespace

TEST_P(DynamicTileLayers, OfAnyNumber) {
  NEEDS_TILES();
  for (const PrecisionCase &each : dynamicTilePrecisions)
    check(GetParam(), each, /*opensArea=*/false,
          {{3, 9, 20}, {1, 9, 20}, {0, 9, 20}, {2, 9, 20}});
}

TEST_P(DynamicTileLayers, OfAnySize) {
  NEEDS_TILES();
  const ImageSizes all[] = {{1, 20, 40}, {2, 7, 7}, {3, 4, 5},  {1, 14, 28},
                            {1, 40, 3},  {0, 9, 9}, {1, 5, 70}, {2, 17, 16}},
                   some[] = {{1, 20, 40}, {3, 7, 7}};
  for (const PrecisionCase &each : dynamicTilePrecisions)
    check(GetParam(), each, /*opensArea=*/true,
          each.precision == Precision::Default ? llvm::ArrayRef<ImageSizes>(all)
                                               : some);
}

INSTANTIATE_TEST_SUITE_P(Convolutions, DynamicTileLayers,
                         ::testing::ValuesIn(layers), [](const auto &info) {
                           std::string name;
                           for (char c : info.param.name)
                             name += std::isalnum(c) ? c : '_';
                           return name;
                         });

/// Layers of a kind, which share code.
TEST(DynamicTileConvolutions, OfANetwork) {
  NEEDS_TILES();
  const ProgramText text = [](bool opensBatch, bool opensArea,
                              const ImageSizes &sizes) {
    const auto [batch, height, width] = sizes;
    ImageText t(opensBatch, opensArea, batch);
    ImageText::Image x = t.input(32, height, width);
    for (int64_t channels : {48, 96, 64})
      x = t.relu(t.bias(t.convolution(x, channels, {})));
    ImageText::Image y = t.convolution(x, 40, {.size = 1, .padding = 0});
    for (int64_t channels : {80, 64})
      y = t.relu(t.convolution(y, channels, {.size = 1, .padding = 0}));
    return t.finish(t.swish(t.add(x, y)));
  };
  std::string kernels = "tiles-split3";
  for (int i = 0; i < 5; ++i)
    kernels += " tiles-split3";
  check(text, 32, ElementType::F32, optionsFor(Precision::Default, 64 << 10),
        kernels, 1e-3, /*opensArea=*/true,
        {{2, 9, 20}, {1, 7, 7}, {1, 20, 9}, {1, 33, 5}});
}

/// What stands between convolutions, and what becomes one: phases of transposed
/// ones, concatenates, gates.
TEST(DynamicTileConvolutions, OfNetworks) {
  NEEDS_TILES();
  for (const ImagesCase &each : imageCases) {
    if (each.isByLoops)
      continue;
    SCOPED_TRACE(each.name);
    const ProgramText text = [&](bool opensBatch, bool opensArea,
                                 const ImageSizes &sizes) {
      ImageText t(opensBatch, opensArea, sizes[0]);
      return each.compute(t, t.input(each.channels, sizes[1], sizes[2]));
    };
    check(text, each.channels, ElementType::F32,
          optionsFor(Precision::Default, 64 << 10), "", 1e-3,
          /*opensArea=*/true, {{1, each.height, each.width}, {2, 8, 21}});
  }
}

/// How many steps of \p program store, and read, parts of numbers.
static std::pair<int64_t, int64_t> partsIn(const Program &program) {
  std::pair<int64_t, int64_t> count;
  for (const Step &step : program.steps) {
    count.first += llvm::StringRef(step.op).contains("split_terms");
    count.second += llvm::StringRef(step.op).contains("recombine_terms");
  }
  return count;
}

/// A chain of convolutions, each by so many channels and such a window.
static ProgramText
chainOf(std::vector<std::pair<int64_t, ImageText::Window>> layers) {
  return [layers = std::move(layers)](bool opensBatch, bool opensArea,
                                      const ImageSizes &sizes) {
    const auto [batch, height, width] = sizes;
    ImageText t(opensBatch, opensArea, batch);
    ImageText::Image x = t.input(32, height, width);
    for (const auto &[channels, window] : layers)
      x = t.relu(t.convolution(x, channels, window));
    return t.finish(x);
  };
}

static const ImageText::Window ofPixel = {.size = 1, .padding = 0};

/// Values between convolutions lie in memory in parts, with zeros around them,
/// however many images there are and however large: bits are those of programs
/// of these sizes.
TEST(DynamicTileConvolutions, InTerms) {
  NEEDS_TILES();
  const ProgramText text = chainOf({{48, ofPixel},
                                    {70, {}},
                                    {33, {.stride = 2}},
                                    {64, {.size = 5, .padding = 2}},
                                    {96, {.padding = 2, .dilation = 2}},
                                    {64, ofPixel},
                                    {64, {.groups = 4}},
                                    {40, ofPixel}});
  const cpu::CpuOptions options = optionsFor(Precision::Default, 64 << 10);
  for (bool opensArea : {true, false}) {
    SCOPED_TRACE(opensArea ? "of any size" : "of any number");
    auto program = programOf(text(true, opensArea, {1, 20, 18}), options);
    ASSERT_TRUE(program);
    EXPECT_EQ(partsIn(*program), std::pair(int64_t(7), int64_t(7)));
    if (opensArea)
      check(text, 32, ElementType::F32, options, "", 2e-3, true,
            {{2, 20, 18}, {1, 7, 7}, {3, 3, 70}, {0, 9, 9}, {1, 41, 2}});
    else
      check(text, 32, ElementType::F32, options, "", 2e-3, false,
            {{2, 20, 18}, {1, 20, 18}, {3, 20, 18}});
  }
}

/// Nobody knows how many of a row's pixels would be a tile's where they are
/// read with strides, or with zeros between rows.
TEST(DynamicTileConvolutions, PixelsApartAreNotReadInParts) {
  NEEDS_TILES();
  const cpu::CpuOptions options = optionsFor(Precision::Default, 64 << 10);
  const ProgramText strides =
      chainOf({{48, ofPixel}, {70, {.size = 1, .stride = 2, .padding = 0}}});
  auto program = programOf(strides(true, true, {1, 8, 8}), options);
  ASSERT_TRUE(program);
  EXPECT_EQ(partsIn(*program), std::pair(int64_t(0), int64_t(0)));
  const ProgramText both = [](bool opensBatch, bool opensArea,
                              const ImageSizes &sizes) {
    ImageText t(opensBatch, opensArea, sizes[0]);
    const ImageText::Image y =
        t.convolution(t.input(32, sizes[1], sizes[2]), 48, ofPixel);
    return t.finish(
        t.add(t.convolution(y, 40, ofPixel), t.convolution(y, 40, {})));
  };
  program = programOf(both(true, true, {1, 8, 8}), options);
  ASSERT_TRUE(program);
  EXPECT_EQ(partsIn(*program), std::pair(int64_t(0), int64_t(0)));
}

/// What several windows read is cut once, with the zeros of the widest.
TEST(DynamicTileConvolutions, CutOnceForSeveralReaders) {
  NEEDS_TILES();
  const ProgramText text = [](bool opensBatch, bool opensArea,
                              const ImageSizes &sizes) {
    ImageText t(opensBatch, opensArea, sizes[0]);
    const ImageText::Image x = t.relu(t.input(40, sizes[1], sizes[2])),
                           a = t.convolution(x, 32, {}),
                           b = t.convolution(x, 32, {.size = 5, .padding = 2});
    return t.finish(t.add(a, b));
  };
  cpu::CpuOptions options = optionsFor(Precision::Default, 64 << 10);
  options.target = cpu::withSlowCache(*options.target);
  for (bool opensArea : {true, false}) {
    SCOPED_TRACE(opensArea ? "of any size" : "of any number");
    auto program = programOf(text(true, opensArea, {1, 20, 18}), options);
    ASSERT_TRUE(program);
    EXPECT_EQ(partsIn(*program), std::pair(int64_t(1), int64_t(2)));
    if (opensArea)
      check(text, 40, ElementType::F32, options, "", 2e-3, true,
            {{2, 20, 18}, {1, 7, 7}, {3, 3, 70}, {0, 9, 9}, {1, 41, 2}});
    else
      check(text, 40, ElementType::F32, options, "", 2e-3, false,
            {{2, 20, 18}, {1, 20, 18}, {3, 20, 18}});
  }
}

/// A number that is too large to be cut is stored as it is.
TEST(DynamicTileConvolutions, UnusualNumbersInTerms) {
  NEEDS_TILES();
  for (const ImageText::Window &window : {ImageText::Window(), ofPixel}) {
    const std::string text =
        chainOf({{48, ofPixel}, {40, window}})(true, true, {1, 9, 20});
    Model model = parseModel(text);
    auto program = programOf(text, optionsFor(Precision::Default, 64 << 10));
    ASSERT_TRUE(program && model.entry());
    EXPECT_EQ(partsIn(*program), std::pair(int64_t(1), int64_t(1)));
    Tensor images(ElementType::F32, {2, 32, 9, 20});
    fillRandom(images, 3);
    images.set(((32 + 7) * 9 + 5) * 20 + 11, 0x1p100f);
    auto expected = interpret(model.entry(), {images});
    ASSERT_TRUE(expected) << expected.error().message();
    const Tensor got = resultOf(*executorOf(program, 2), images);
    ASSERT_EQ(got.shape(), (*expected)[0].shape());
    for (int64_t i = 0; i < got.size(); ++i) {
      const double b = (*expected)[0].toDouble(i);
      ASSERT_NEAR(got.toDouble(i), b,
                  b > 0x1p40 ? 1e-2 * b : 1e-3 + 1e-3 * std::abs(b))
          << i;
    }
  }
}

/// A convolution of \p element, of 3x3 or of 1x1; bytes are distances from
/// 100, and sums i32.
static ProgramText textOf(const std::string &element, int64_t inputs,
                          int64_t outputs, int64_t window) {
  return [=](bool opensBatch, bool opensArea, const ImageSizes &sizes) {
    auto type = [&](int64_t channels, const std::string &of) {
      std::string text = "tensor<";
      for (int64_t size :
           {opensBatch ? -1 : sizes[0], channels, opensArea ? -1 : sizes[1],
            opensArea ? -1 : sizes[2]})
        text += (size < 0 ? "?" : std::to_string(size)) + "x";
      return text + of + ">";
    };
    const bool isByte = element == "ui8";
    const std::string n = std::to_string(inputs * outputs * window * window),
                      side = std::to_string(window),
                      weights = std::to_string(outputs) + "x" +
                                std::to_string(inputs) + "x" + side + "x" +
                                side + "x",
                      of = isByte ? "i32" : element, x = type(inputs, of),
                      y = type(outputs, of), narrow = isByte ? "i8" : element;
    std::string text =
        "(%x: " + type(inputs, element) + " {sinter.dims = [\"" +
        (opensBatch ? "N" : "") + "\", \"\", \"" + (opensArea ? "H" : "") +
        "\", \"" + (opensArea ? "W" : "") + "\"]}) -> " + y +
        " {\n %i = stablehlo.iota dim = 0 : tensor<" + n +
        "xf32>\n %s = stablehlo.sine %i : tensor<" + n +
        "xf32>\n %c = stablehlo.constant dense<" + (isByte ? "120.0" : "0.1") +
        "> : tensor<" + n + "xf32>\n %m = stablehlo.multiply %s, %c : tensor<" +
        n + "xf32>\n %v = stablehlo.convert %m : (tensor<" + n +
        "xf32>) -> tensor<" + n + "x" + narrow +
        ">\n %w = stablehlo.reshape %v : (tensor<" + n + "x" + narrow +
        ">) -> tensor<" + weights + narrow + ">\n";
    if (isByte)
      text +=
          " %u = stablehlo.convert %w : (tensor<" + weights +
          "i8>) -> tensor<" + weights + "i32>\n %a = stablehlo.convert %x : (" +
          type(inputs, element) + ") -> " + x +
          "\n %z = stablehlo.constant dense<100> : tensor<i32>\n %b = "
          "nn.broadcast_like %z, %a : (tensor<i32>, " +
          x + ") -> " + x + "\n %d = stablehlo.subtract %a, %b : " + x + "\n";
    const std::string pad = std::to_string(window / 2);
    return text + " %y = stablehlo.convolution(" +
           (isByte ? "%d, %u" : "%x, %w") +
           ") dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = "
           "{pad = [[" +
           pad + ", " + pad + "], [" + pad + ", " + pad +
           "]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} "
           ": (" +
           x + ", tensor<" + weights + of + ">) -> " + y +
           "\n return %y : " + y + "\n}";
  };
}

/// Numbers that parts do not add up to, at a corner and inside, reach the
/// pixels whose windows have them and no others.
TEST(DynamicTileConvolutions, OfUnusualNumbers) {
  NEEDS_TILES();
  constexpr int64_t channels = 40, height = 9, width = 20;
  for (int64_t window : {1, 3})
    for (float number : {std::numeric_limits<float>::quiet_NaN(),
                         -std::numeric_limits<float>::infinity(), 0x1p100f}) {
      SCOPED_TRACE(std::to_string(number) + ", window of " +
                   std::to_string(window));
      const std::string text =
          textOf("f32", channels, 36, window)(true, true, {});
      Model model = parseModel(text);
      auto program = programOf(text, optionsFor(Precision::Default, 16 << 10));
      ASSERT_TRUE(program && model.entry());
      EXPECT_EQ(kernelsOf(*program), "tiles-split3");
      Tensor images(ElementType::F32, {2, channels, height, width});
      fillRandom(images, 3);
      images.set(0, number);
      images.set(((channels + 33) * height + 5) * width + 11, number);
      auto expected = interpret(model.entry(), {images});
      ASSERT_TRUE(expected) << expected.error().message();
      const Tensor got = resultOf(*executorOf(program, 2), images);
      ASSERT_EQ(got.shape(), (*expected)[0].shape());
      for (int64_t i = 0; i < got.size(); ++i) {
        const double a = got.toDouble(i), b = (*expected)[0].toDouble(i);
        if (!std::isfinite(b))
          ASSERT_TRUE(std::isnan(b) ? std::isnan(a) : a == b) << i;
        else
          ASSERT_NEAR(a, b, 1e-3 + 1e-5 * std::abs(b)) << i;
      }
    }
}

TEST(DynamicTileConvolutions, OfNarrowNumbers) {
  NEEDS_TILES();
  struct Narrow {
    const char *element;
    ElementType type;
    const char *kernel;
    double error;
  };
  for (const Narrow &each :
       {Narrow{"f16", ElementType::F16, "tiles-split4", 2e-3},
        {"bf16", ElementType::BF16, "tiles-bf16", 2e-2},
        {"ui8", ElementType::UI8, "tiles-i8", 0}})
    for (int64_t window : {1, 3})
      for (bool opensArea : {false, true}) {
        SCOPED_TRACE(std::string(each.element) + ", window of " +
                     std::to_string(window));
        std::vector<ImageSizes> all = {{2, 9, 20}, {1, 9, 20}};
        if (opensArea)
          all.insert(all.end(), {{1, 20, 5}, {2, 7, 7}});
        check(textOf(each.element, 40, 36, window), 40, each.type,
              optionsFor(Precision::Default, 16 << 10), each.kernel, each.error,
              opensArea, all);
      }
}
