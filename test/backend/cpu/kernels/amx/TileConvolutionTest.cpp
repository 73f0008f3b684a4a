// Convolutions by the instructions of matrix units, which are emulated, against
// the definition.
//
// Covers: backend/cpu/kernels/amx StageConvolution TileConvolution TileVectors

#include "backend/cpu/kernels/amx/TileConvolution.h"
#include "Sweep.h"
#include "backend/cpu/TileTests.h"

#include <cmath>
#include <limits>
#include <random>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;
using sinter::test::Sweep;

namespace {

using enum ElementType;

constexpr int64_t lanes = 16;

int64_t blocks(int64_t channels) { return (channels + lanes - 1) / lanes; }

/// Where channel \p c of a pixel lies in a blocked activation.
int64_t offsetOf(int64_t image, int64_t channels, int64_t c, int64_t pixels,
                 int64_t pixel) {
  return ((image * blocks(channels) + c / lanes) * pixels + pixel) * lanes +
         c % lanes;
}

/// An activation of which the channels that nobody reads are not numbers.
Tensor activation(ElementType type, const ConvolutionShape &shape) {
  const int64_t size = shape.batch * blocks(shape.inputChannels) * lanes *
                       shape.inputPixels().value();
  Tensor tensor = randomTensor(type, size, 1);
  for (int64_t n = 0; type == F32 && n < shape.batch; ++n)
    for (int64_t c = shape.inputChannels;
         c < blocks(shape.inputChannels) * lanes; ++c)
      for (int64_t p = 0; p < shape.inputPixels().value(); ++p)
        tensor.set(
            offsetOf(n, shape.inputChannels, c, shape.inputPixels().value(), p),
            std::numeric_limits<float>::quiet_NaN());
  return tensor;
}

struct Sums {
  double sum = 0, magnitude = 0;
};

/// Result (n, k, y, x) by the definition.
Sums expectedAt(const ConvolutionShape &shape, const Tensor &input,
                const Tensor &weights, int64_t n, int64_t k, int64_t y,
                int64_t x) {
  Sums sums;
  const int64_t inputs = shape.inputChannels / shape.groups,
                first = k / (shape.outputChannels / shape.groups) * inputs;
  for (int64_t c = 0; c < inputs; ++c)
    for (int64_t r = 0; r < shape.kernelHeight; ++r)
      for (int64_t s = 0; s < shape.kernelWidth; ++s) {
        const int64_t row =
            y * shape.strideHeight - shape.padTop + r * shape.dilationHeight;
        const int64_t column = shape.inputColumn(x, s);
        if (row < 0 || row >= shape.inputHeight.value() || column < 0 ||
            column >= shape.inputWidth.value())
          continue;
        const double product =
            (input.toDouble(offsetOf(n, shape.inputChannels, first + c,
                                     shape.inputPixels().value(),
                                     row * shape.inputWidth.value() + column)) -
             double(shape.zeroPoint)) *
            weights.toDouble(((k * inputs + c) * shape.kernelHeight + r) *
                                 shape.kernelWidth +
                             s);
        sums.sum += product;
        sums.magnitude += std::abs(product);
      }
  return sums;
}

/// What else the memory of a test holds: the zero point of its shape, or
/// numbers at some places of its input.
struct Extras {
  bool zeroIsInMemory = false;
  std::vector<std::pair<int64_t, float>> numbers = {};
};

/// Whether \p got is the sum, with an error of \p part of the magnitudes.
bool isNear(double got, const Sums &expected, double part) {
  if (std::isnan(expected.sum) || std::isinf(expected.sum))
    return std::isnan(got) == std::isnan(expected.sum) &&
           (std::isnan(got) || got == expected.sum);
  return std::abs(got - expected.sum) <= part * expected.magnitude;
}

void check(const ConvolutionShape &given, const TileArithmetic &arithmetic,
           const Target &target, const Extras &extras = {}) {
  ConvolutionShape shape = given;
  Tensor zero(arithmetic.lhs, {1});
  if (extras.zeroIsInMemory) {
    std::memset(zero.mutableBytes(), int(given.zeroPoint), zero.bytes());
    shape.zeroPoint = 0;
    shape.hasZeroInMemory = true;
  }
  ASSERT_TRUE(TileConvolution::supports(shape, target));
  const TileConvolution convolution(shape, target, arithmetic);
  Tensor input = activation(arithmetic.lhs, shape);
  for (auto [place, number] : extras.numbers)
    input.set(place, number);
  Tensor weights =
      randomTensor(arithmetic.rhs,
                   shape.outputChannels * (shape.inputChannels / shape.groups) *
                       shape.taps(),
                   2);
  Tensor packed = bufferOfBytes(arithmetic.rhs, convolution.packedBytes());
  convolution.pack(weights.data(), packed.mutableBytes());
  Tensor scratch(I8, {convolution.scratchBytes()});
  Tensor output(arithmetic.accumulator(),
                {shape.batch * blocks(shape.outputChannels) * lanes *
                 shape.outputPixels().value()});
  Tensor *const tensors[] = {&input, &packed, &zero, &scratch, &output};
  TileKernel kernel(
      target, tensors,
      {convolution.tasks(),
       [&](OpBuilder &builder, Location loc, Value task, ValueRange memory) {
         convolution.build(builder, loc, task, memory[0], memory[1], memory[4],
                           memory[3], {}, memory[2]);
       }},
      {convolution.cutTasks(),
       [&](OpBuilder &builder, Location loc, Value task, ValueRange memory) {
         convolution.buildCut(builder, loc, task, memory[0], memory[3],
                              memory[2]);
       }});
  const TileCounts counts = kernel.run(tensors);
  EXPECT_EQ(counts.configurations, 1);
  EXPECT_EQ(counts.releases, 1);
  if (extras.numbers.empty())
    EXPECT_GT(counts.products, 0);
  else if (convolution.tasks() == shape.batch)
    EXPECT_EQ(counts.products, 0);
  const double error =
      tileError(arithmetic, shape.inputChannels * shape.taps());
  for (int64_t n = 0; n < shape.batch; ++n)
    for (int64_t k = 0; k < shape.outputChannels; ++k)
      for (int64_t y = 0; y < shape.outputHeight.value(); ++y)
        for (int64_t x = 0; x < shape.outputWidth.value(); ++x) {
          const Sums sums = expectedAt(given, input, weights, n, k, y, x);
          const double got = output.toDouble(
              offsetOf(n, shape.outputChannels, k, shape.outputPixels().value(),
                       y * shape.outputWidth.value() + x));
          ASSERT_TRUE(isNear(got, sums, error))
              << got << " instead of " << sums.sum << ", "
              << "image " << n << ", channel " << k << ", row " << y
              << ", column " << x;
        }
}

ConvolutionShape convolution(int64_t inputs, int64_t outputs, int64_t height,
                             int64_t width, int64_t window, int64_t padding,
                             int64_t stride = 1, int64_t dilation = 1) {
  ConvolutionShape shape;
  shape.inputChannels = inputs;
  shape.outputChannels = outputs;
  shape.inputHeight = height;
  shape.inputWidth = width;
  shape.kernelHeight = shape.kernelWidth = window;
  shape.strideHeight = shape.strideWidth = stride;
  shape.dilationHeight = shape.dilationWidth = dilation;
  shape.setPadding(padding, padding);
  return shape;
}

std::string textOf(const ConvolutionShape &s) {
  return std::to_string(s.inputChannels) + " to " +
         std::to_string(s.outputChannels) + " channels, " +
         std::to_string(s.inputHeight.value()) + "x" +
         std::to_string(s.inputWidth.value()) + ", window of " +
         std::to_string(s.kernelHeight) + "x" + std::to_string(s.kernelWidth);
}

std::vector<ConvolutionShape> shapes() {
  std::vector<ConvolutionShape> all = {convolution(16, 16, 5, 7, 1, 0),
                                       convolution(33, 40, 9, 4, 1, 0),
                                       convolution(70, 17, 7, 7, 3, 1),
                                       convolution(3, 20, 6, 18, 3, 1),
                                       convolution(32, 32, 1, 33, 3, 1),
                                       convolution(20, 48, 9, 9, 1, 0, 2),
                                       convolution(17, 33, 11, 13, 3, 1, 2),
                                       convolution(16, 16, 12, 12, 5, 2),
                                       convolution(16, 16, 9, 10, 3, 2, 1, 2),
                                       convolution(40, 16, 6, 6, 1, 1)};
  // Several images, uneven windows, strides and padding.
  ConvolutionShape uneven = convolution(18, 35, 8, 9, 1, 0);
  uneven.batch = 3;
  uneven.kernelHeight = 2;
  uneven.kernelWidth = 4;
  uneven.strideHeight = 1;
  uneven.strideWidth = 3;
  uneven.padTop = 1;
  uneven.padLeft = 2;
  uneven.outputHeight = 9;
  uneven.outputWidth = 4;
  all.push_back(uneven);
  // Columns and rows that are left out.
  ConvolutionShape cut = convolution(16, 16, 8, 8, 3, 0);
  cut.padTop = -1;
  cut.padLeft = -2;
  cut.outputHeight = 5;
  cut.outputWidth = 3;
  all.push_back(cut);
  return all;
}

/// Of groups of so many channels.
std::vector<ConvolutionShape> groupedShapes() {
  std::vector<ConvolutionShape> all;
  for (auto [channels, group, size, window, stride] :
       {std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t>{32, 4, 7, 3, 1},
        {40, 2, 5, 3, 2},
        {72, 8, 6, 3, 1},
        {48, 16, 9, 1, 1},
        {96, 32, 5, 3, 1},
        {128, 64, 4, 3, 2},
        {256, 128, 3, 1, 1}}) {
    all.push_back(convolution(channels, channels, size, size, window,
                              window / 2, stride));
    all.back().groups = channels / group;
  }
  return all;
}

std::vector<ConvolutionShape> shapesAndGroups() {
  std::vector<ConvolutionShape> all = shapes();
  for (const ConvolutionShape &each : groupedShapes())
    all.push_back(each);
  return all;
}

TEST(TileConvolution, Groups) {
  WITH_TILES(target);
  Sweep sweep(3);
  for (const TileArithmetic &arithmetic : tileArithmetics())
    for (ConvolutionShape shape : groupedShapes())
      for (bool isShared : {false, true})
        if (sweep.takesNext()) {
          if (arithmetic.isOfBytes())
            shape.zeroPoint = arithmetic.lhs == UI8 ? 100 : -7;
          SCOPED_TRACE(arithmetic.name().str() + ", " + textOf(shape) + ", " +
                       std::to_string(shape.groups) + " groups");
          check(shape, arithmetic, isShared ? withSlowCache(target) : target);
        }
}

TEST(TileConvolution, Shapes) {
  WITH_TILES(target);
  Sweep sweep(3);
  for (const TileArithmetic &arithmetic : tileArithmetics())
    for (const ConvolutionShape &shape : shapes())
      if (sweep.takesNext()) {
        SCOPED_TRACE(arithmetic.name().str() + ", " + textOf(shape));
        check(shape, arithmetic, target);
      }
}

/// Pixels that several tasks take are brought together once.
TEST(TileConvolution, PixelsThatAreSharedByTasks) {
  WITH_TILES(host);
  const Target target = withSlowCache(host);
  Sweep sweep(3);
  for (const TileArithmetic &arithmetic : tileArithmetics())
    for (ConvolutionShape shape : shapes())
      if (sweep.takesNext()) {
        SCOPED_TRACE(arithmetic.name().str() + ", " + textOf(shape));
        shape.outputChannels += 70;
        EXPECT_GT(TileConvolution(shape, target, arithmetic).cutTasks(), 0);
        check(shape, arithmetic, target);
      }
}

/// Bytes count as distances, and what lies outside of the image as none.
TEST(TileConvolution, ZeroPoints) {
  WITH_TILES(target);
  for (auto [lhs, zeroPoint] :
       {std::pair<ElementType, int64_t>{UI8, 128}, {UI8, 3}, {I8, -7}})
    for (ConvolutionShape shape :
         {convolution(16, 16, 5, 7, 1, 0), convolution(70, 33, 6, 6, 3, 1)}) {
      shape.zeroPoint = zeroPoint;
      SCOPED_TRACE(std::to_string(zeroPoint) + ", " + textOf(shape));
      for (bool isInMemory : {false, true})
        check(shape, *TileArithmetic::of(lhs, I8, I32, Precision::Default),
              isInMemory ? withSlowCache(target) : target, {isInMemory});
    }
}

/// Numbers that parts do not add up to: at the border of each image and inside
/// of it, in its last channel and in others.
TEST(TileConvolution, UnusualNumbers) {
  WITH_TILES(host);
  Sweep sweep(3);
  for (Precision precision :
       {Precision::Default, Precision::Exact, Precision::BFloat16})
    for (const ConvolutionShape &shape : shapesAndGroups())
      for (float number : {0x1p100f, -std::numeric_limits<float>::infinity(),
                           std::numeric_limits<float>::quiet_NaN()})
        for (bool isShared : {false, true}) {
          if (!sweep.takesNext())
            continue;
          SCOPED_TRACE(textOf(shape) + ", " + std::to_string(number));
          Extras extras;
          for (int64_t n = 0; n < shape.batch; ++n)
            for (auto [c, pixel] :
                 {std::pair{shape.inputChannels - 1, int64_t(0)},
                  {shape.inputChannels / 2,
                   shape.inputHeight.value() / 2 * shape.inputWidth.value() +
                       shape.inputWidth.value() / 2},
                  {int64_t(0), shape.inputPixels().value() - 1}})
              extras.numbers.emplace_back(offsetOf(n, shape.inputChannels, c,
                                                   shape.inputPixels().value(),
                                                   pixel),
                                          number);
          ConvolutionShape wide = shape;
          wide.outputChannels += isShared && shape.groups == 1 ? 70 : 0;
          check(wide, *TileArithmetic::of(F32, F32, F32, precision),
                isShared ? withSlowCache(host) : host, extras);
        }
}

/// Several tasks of rows, and of columns.
TEST(TileConvolution, SmallCaches) {
  WITH_TILES(host);
  Target target = host;
  target.l2Bytes = 32 << 10;
  const TileArithmetic arithmetic =
      *TileArithmetic::of(F32, F32, F32, Precision::Default);
  for (const ConvolutionShape &shape :
       {convolution(32, 70, 20, 20, 3, 1), convolution(64, 40, 13, 13, 1, 0)}) {
    EXPECT_GT(TileConvolution(shape, target, arithmetic).tasks(), 1);
    check(shape, arithmetic, target);
  }
}

TEST(TileConvolution, LeavesOthersAlone) {
  const Target with = *Target::named("x86_64-unknown-linux-gnu",
                                     "sapphirerapids", ""),
               without =
                   *Target::named("x86_64-unknown-linux-gnu", "x86-64-v4", "");
  ConvolutionShape shape = convolution(16, 16, 5, 5, 3, 1);
  EXPECT_TRUE(TileConvolution::supports(shape, with));
  EXPECT_FALSE(TileConvolution::supports(shape, without));
  shape.hasPlanarInput = true;
  EXPECT_FALSE(TileConvolution::supports(shape, with));
  shape.hasPlanarInput = false;
  for (auto [channels, groups, isSupported] : {std::tuple{16, 2, true},
                                               {48, 4, false},
                                               {48, 3, true},
                                               {192, 2, false}}) {
    shape.inputChannels = shape.outputChannels = channels;
    shape.groups = groups;
    EXPECT_EQ(TileConvolution::supports(shape, with), isSupported) << channels;
  }
  shape.outputChannels = 384;
  EXPECT_FALSE(TileConvolution::supports(shape, with));
}

} // namespace
