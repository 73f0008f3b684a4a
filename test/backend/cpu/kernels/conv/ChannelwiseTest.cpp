//===- ChannelwiseTest.cpp ------------------------------------------------===//
//
// Covers: backend/cpu/kernels/conv Channelwise

#include "backend/cpu/kernels/conv/Channelwise.h"
#include "backend/cpu/KernelBuffers.h"
#include "backend/cpu/KernelRunner.h"

#include <cmath>
#include <gtest/gtest.h>
#include <optional>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

/// One output by the definition: a depthwise convolution if there are weights,
/// else the given kind of pooling.
double reference(const ChannelwiseShape &s, const Floats &input,
                 const Floats *weights, Pooling::Kind kind, int64_t lanes,
                 int64_t n, int64_t c, int64_t oh, int64_t ow) {
  int64_t blocks = (s.channels + lanes - 1) / lanes;
  double sum = 0, maximum = -INFINITY;
  int64_t present = 0;
  for (int64_t r = 0; r < s.kernelHeight; ++r)
    for (int64_t t = 0; t < s.kernelWidth; ++t) {
      int64_t ih = oh * s.strideHeight - s.padTop + r * s.dilationHeight;
      int64_t iw = s.inputColumn(ow, t);
      if (ih < 0 || iw < 0 || ih >= s.inputHeight.value() ||
          iw >= s.inputWidth.value())
        continue;
      int64_t plane = n * blocks + c / lanes;
      double x =
          input[((plane * s.inputHeight.value() + ih) * s.inputWidth.value() +
                 iw) *
                    lanes +
                c % lanes];
      ++present;
      maximum = std::max(maximum, x);
      sum += weights
                 ? x * (*weights)[(c * s.kernelHeight + r) * s.kernelWidth + t]
                 : x;
    }
  if (weights)
    return sum;
  switch (kind) {
  case Pooling::Kind::Maximum:
    return maximum;
  case Pooling::Kind::AverageOfWindow:
    return sum / s.taps();
  case Pooling::Kind::AverageOfPresent:
    return sum / present;
  }
  return NAN;
}

/// Without a kind, checks a depthwise convolution.
void check(const ChannelwiseShape &s,
           std::optional<Pooling::Kind> kind = std::nullopt) {
  SCOPED_TRACE(testing::Message()
               << "C " << s.channels << " input " << s.inputHeight.value()
               << "x" << s.inputWidth.value() << " output "
               << s.outputHeight.value() << "x" << s.outputWidth.value()
               << " kernel " << s.kernelHeight << "x" << s.kernelWidth
               << " stride " << s.strideWidth << " dilation " << s.dilationWidth
               << " pad " << s.padTop << "," << s.padLeft);
  KernelRunner runner;
  const int64_t lanes = runner.target().f32Lanes;
  const int64_t stored = (s.channels + lanes - 1) / lanes * lanes;
  Depthwise depthwise(s, runner.target());
  Pooling pooling(kind.value_or(Pooling::Kind::Maximum), s, runner.target());

  std::mt19937 generator(9);
  Floats input(s.batch.value() * stored * s.inputPixels().value());
  Floats weights(s.channels * s.taps());
  Floats packed(depthwise.packedElements());
  Floats output(s.batch.value() * stored * s.outputPixels().value());
  input.randomize(generator);
  weights.randomize(generator);
  depthwise.pack(weights.data(), packed.data());

  auto type = [&](const Floats &floats) {
    return MemRefType::get({floats.size()},
                           Float32Type::get(&runner.context()));
  };
  KernelBuffer buffers[] = {
      {type(input)}, {type(packed)}, {type(output), true}};
  createKernel(
      runner.module(), UnknownLoc::get(&runner.context()), "window", buffers,
      [&](OpBuilder &builder, Location loc, Value task, ValueRange memrefs) {
        if (kind)
          pooling.build(builder, loc, task, memrefs[0], memrefs[2], nullptr);
        else
          depthwise.build(builder, loc, task, memrefs[0], memrefs[1],
                          memrefs[2], nullptr);
      });
  runner.compile();
  void *arguments[] = {input.data(), packed.data(), output.data()};
  runner.kernel("window")(arguments, 0, s.batch.value() * depthwise.tasks());

  EXPECT_TRUE(output.guardsAreIntact());
  for (int64_t n = 0; n < s.batch.value(); ++n)
    for (int64_t c = 0; c < s.channels; ++c)
      for (int64_t p = 0; p < s.outputPixels().value(); ++p) {
        int64_t plane = n * (stored / lanes) + c / lanes;
        double expected =
            reference(s, input, kind ? nullptr : &weights,
                      kind.value_or(Pooling::Kind::Maximum), lanes, n, c,
                      p / s.outputWidth.value(), p % s.outputWidth.value());
        ASSERT_NEAR(
            output[(plane * s.outputPixels().value() + p) * lanes + c % lanes],
            expected, 1e-5)
            << "n " << n << " c " << c << " row " << p / s.outputWidth.value()
            << " column " << p % s.outputWidth.value();
      }
}

ChannelwiseShape square(int64_t channels, int64_t size, int64_t kernel,
                        int64_t stride, int64_t padding) {
  ChannelwiseShape shape;
  shape.channels = channels;
  shape.inputHeight = shape.inputWidth = size;
  shape.kernelHeight = shape.kernelWidth = kernel;
  shape.strideHeight = shape.strideWidth = stride;
  shape.setPadding(padding, padding);
  return shape;
}

TEST(Channelwise, Depthwise) {
  check(square(32, 56, 3, 1, 1));
  check(square(40, 15, 3, 2, 1));
  check(square(16, 7, 5, 1, 2));
  ChannelwiseShape shape = square(20, 30, 3, 1, 1);
  shape.dilationHeight = shape.dilationWidth = 2;
  shape.batch = 2;
  shape.setPadding(2, 2);
  check(shape);
}

TEST(Channelwise, Pooling) {
  for (Pooling::Kind kind :
       {Pooling::Kind::Maximum, Pooling::Kind::AverageOfWindow,
        Pooling::Kind::AverageOfPresent}) {
    check(square(32, 28, 3, 2, 1), kind);
    check(square(24, 7, 7, 1, 0), kind);
    check(square(16, 9, 2, 2, 0), kind);
  }
}

TEST(Channelwise, MuchPadding) {
  check(square(16, 3, 3, 1, 90));
  check(square(16, 3, 3, 2, 60), Pooling::Kind::AverageOfWindow);
  ChannelwiseShape shape = square(16, 5, 3, 1, 0);
  shape.kernelHeight = 1;
  shape.dilationWidth = 300;
  shape.setPadding(0, 20000);
  check(shape);
}

TEST(Channelwise, RandomShapes) {
  std::mt19937 generator(13);
  auto upTo = [&](int limit) { return int64_t(generator() % limit + 1); };
  for (int i = 0; i < 10; ++i) {
    ChannelwiseShape shape;
    shape.batch = upTo(2);
    shape.channels = upTo(50);
    shape.inputHeight = upTo(12) + 6;
    shape.inputWidth = upTo(40) + 6;
    shape.kernelHeight = upTo(4);
    shape.kernelWidth = upTo(4);
    shape.strideHeight = upTo(3);
    shape.strideWidth = upTo(3);
    shape.dilationHeight = upTo(2);
    shape.dilationWidth = upTo(2);
    shape.setPadding(generator() % shape.kernelHeight,
                     generator() % shape.kernelWidth);
    if (i % 2)
      check(shape);
    else
      check(shape, Pooling::Kind(i / 2 % 3));
  }
}

} // namespace
