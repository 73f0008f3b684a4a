// Convolutions of images of open number and area by the instructions of matrix
// units, which are emulated: one program for all sizes, against the oracle,
// with the same bits on any number of threads, in any company, and from
// programs of known sizes.

#include "backend/cpu/OpenImages.h"
#include "backend/cpu/TileTests.h"

#include <array>
#include <cstdlib>

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

struct Layer {
  std::string name;
  int64_t inputs, outputs;
  ImageText::Window window;
  int64_t cacheBytes = 64 << 10;
};

std::string textOf(const Layer &layer, bool opensBatch, bool opensArea,
                   const std::array<int64_t, 3> &sizes) {
  const auto [batch, height, width] = sizes;
  ImageText text(opensBatch, opensArea, batch);
  const ImageText::Image x = text.input(layer.inputs, height, width);
  return text.finish(
      text.relu(text.bias(text.convolution(x, layer.outputs, layer.window))));
}

std::shared_ptr<const Program> programOf(const std::string &text,
                                         const cpu::CpuOptions &options) {
  auto program = compileRaised(text, options);
  EXPECT_TRUE(program) << program.error().message << "\n" << text;
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
    greatest = std::max(greatest, std::abs(double(expected.at<float>(i))));
  for (int64_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got.at<float>(i), expected.at<float>(i),
                1e-6 + error * greatest)
        << "element " << i;
}

struct PrecisionCase {
  Precision precision;
  std::string kernel;
  double error;
};
const PrecisionCase precisions[] = {{Precision::Default, "tiles-split3", 3e-4},
                                    {Precision::Exact, "tiles-split6", 3e-5},
                                    {Precision::BFloat16, "tiles-bf16", 3e-2}};

/// The program of open sizes for images of each of \p sizes.
void check(const Layer &layer, const PrecisionCase &of, bool opensArea,
           llvm::ArrayRef<std::array<int64_t, 3>> sizes) {
  const cpu::CpuOptions options = optionsFor(of.precision, layer.cacheBytes);
  const std::string text =
      textOf(layer, /*opensBatch=*/true, opensArea, sizes.front());
  Model model = parseModel(text);
  auto program = programOf(text, options);
  ASSERT_TRUE(program && program->open && model.entry());
  EXPECT_EQ(kernelsOf(*program), of.kernel);
  auto one = executorOf(program, 1), two = executorOf(program, 2);
  for (const auto &[batch, height, width] : sizes) {
    SCOPED_TRACE(std::to_string(batch) + " of " + std::to_string(height) + "x" +
                 std::to_string(width));
    Tensor images(ElementType::F32, {batch, layer.inputs, height, width});
    fillRandom(images, 3);
    const Tensor got = resultOf(*two, images);
    auto expected = interpret(model.entry(), {images});
    ASSERT_TRUE(expected) << expected.error().message;
    expectNear(got, (*expected)[0], of.error);
    EXPECT_TRUE(haveSameBits(got, resultOf(*one, images))) << "one thread";
    if (got.size() == 0)
      continue;
    EXPECT_TRUE(haveSameBits(resultOf(*one, partOf(images, batch - 1, batch)),
                             partOf(got, batch - 1, batch)))
        << "alone";
    auto known =
        programOf(textOf(layer, false, false, {batch, height, width}), options);
    ASSERT_TRUE(known && !known->open);
    EXPECT_TRUE(haveSameBits(got, resultOf(*executorOf(known, 1), images)))
        << "of a program for these sizes";
  }
}

const Layer layers[] = {
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

class OpenTileConvolutions : public ::testing::TestWithParam<Layer> {};

} // namespace

TEST_P(OpenTileConvolutions, OfAnyNumber) {
  NEEDS_TILES();
  SKIP_IF_SIZES_MAY_WRAP();
  for (const PrecisionCase &each : precisions)
    check(GetParam(), each, /*opensArea=*/false,
          {{3, 9, 20}, {1, 9, 20}, {0, 9, 20}, {2, 9, 20}});
}

TEST_P(OpenTileConvolutions, OfAnySize) {
  NEEDS_TILES();
  SKIP_IF_SIZES_MAY_WRAP();
  const std::array<int64_t, 3> all[] = {{1, 20, 40}, {2, 7, 7},  {3, 4, 5},
                                        {1, 14, 28}, {1, 40, 3}, {0, 9, 9},
                                        {1, 5, 70},  {2, 17, 16}},
                               some[] = {{1, 20, 40}, {3, 7, 7}};
  for (const PrecisionCase &each : precisions)
    check(GetParam(), each, /*opensArea=*/true,
          each.precision == Precision::Default
              ? llvm::ArrayRef<std::array<int64_t, 3>>(all)
              : some);
}

INSTANTIATE_TEST_SUITE_P(Layers, OpenTileConvolutions,
                         ::testing::ValuesIn(layers), [](const auto &info) {
                           std::string name;
                           for (char c : info.param.name)
                             name += std::isalnum(c) ? c : '_';
                           return name;
                         });
