// Gradients of depthwise weights: the generator by its definition, and whole
// programs against the oracle.
//
// Covers: backend/cpu/emit WeightGradientKernel
// Covers: backend/cpu/kernels/conv DepthwiseGradient WeightGradient
// Covers: backend/cpu/layout WeightGradientForm

#include "backend/cpu/kernels/conv/DepthwiseGradient.h"
#include "backend/cpu/CompareWithInterpreter.h"
#include "backend/cpu/kernels/conv/GradientKernels.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

/// The sum of tap (r, t) of channel c of image n, by the definition.
double reference(const ChannelwiseShape &s, const Floats &input,
                 const Floats &gradient, int64_t lanes, int64_t plane,
                 int64_t lane, int64_t r, int64_t t) {
  double sum = 0;
  for (int64_t oh = 0; oh < s.outputHeight.value(); ++oh)
    for (int64_t ow = 0; ow < s.outputWidth.value(); ++ow) {
      const int64_t ih = oh * s.strideHeight - s.padTop + r * s.dilationHeight,
                    iw = s.inputColumn(ow, t);
      if (ih < 0 || iw < 0 || ih >= s.inputHeight.value() ||
          iw >= s.inputWidth.value())
        continue;
      const int64_t x = (plane * s.inputHeight.value() + ih) *
                            s.inputWidth.value() +
                        iw,
                    y = (plane * s.outputHeight.value() + oh) *
                            s.outputWidth.value() +
                        ow;
      sum += double(input[x * lanes + lane]) * gradient[y * lanes + lane];
    }
  return sum;
}

void check(const ChannelwiseShape &s) {
  SCOPED_TRACE(testing::Message() << "N " << s.batch.value() << " C "
                                  << s.channels << " " << describeWindow(s));
  KernelRunner runner;
  const int64_t lanes = runner.target().f32Lanes;
  const int64_t planes = s.batch.value() * ((s.channels + lanes - 1) / lanes);
  DepthwiseGradient generator(s, runner.target());
  Floats input(planes * lanes * s.inputPixels().value());
  Floats gradient(planes * lanes * s.outputPixels().value());
  Floats sums(planes * lanes * s.taps());
  ASSERT_EQ(generator.tasks(), planes);
  runGradient(runner, generator, input, gradient, sums);
  for (int64_t plane = 0; plane < planes; ++plane)
    for (int64_t tap = 0; tap < s.taps(); ++tap)
      for (int64_t lane = 0; lane < lanes; ++lane)
        ASSERT_NEAR(sums[(plane * s.taps() + tap) * lanes + lane],
                    reference(s, input, gradient, lanes, plane, lane,
                              tap / s.kernelWidth, tap % s.kernelWidth),
                    1e-6 * double(s.outputPixels().value()) + 1e-6)
            << "plane " << plane << " tap " << tap << " lane " << lane;
}

ChannelwiseShape shapeOf(int64_t batch, int64_t channels, int64_t height,
                         int64_t width, int64_t kernel, int64_t stride,
                         int64_t padding, int64_t dilation = 1) {
  ChannelwiseShape shape;
  shape.batch = batch;
  shape.channels = channels;
  shape.inputHeight = height;
  shape.inputWidth = width;
  shape.kernelHeight = shape.kernelWidth = kernel;
  shape.strideHeight = shape.strideWidth = stride;
  shape.dilationHeight = shape.dilationWidth = dilation;
  shape.setPadding(padding, padding);
  return shape;
}

/// The gradient of a depthwise convolution's weights, whose operands stand in
/// blocks or not, in a program.
std::string bodyOf(const ChannelwiseShape &s, bool isBlocked) {
  auto type = [](const Shape &shape) {
    return "tensor<" + toString(ElementType::F32, shape) + ">";
  };
  const Shape x = {s.batch.value(), s.channels, s.inputHeight.value(),
                   s.inputWidth.value()},
              y = {s.batch.value(), s.channels, s.outputHeight.value(),
                   s.outputWidth.value()},
              w = {s.channels, 1, s.kernelHeight, s.kernelWidth};
  auto padding = [](int64_t low, int64_t taps, int64_t dilation, int64_t output,
                    int64_t stride, int64_t input) {
    return "[" + std::to_string(low) + ", " +
           std::to_string((taps - 1) * dilation + (output - 1) * stride + 1 -
                          input - low) +
           "]";
  };
  auto pair = [](int64_t a, int64_t b) {
    return "[" + std::to_string(a) + ", " + std::to_string(b) + "]";
  };
  const std::string pads =
      "[" +
      padding(s.padTop, s.kernelHeight, s.dilationHeight,
              s.outputHeight.value(), s.strideHeight, s.inputHeight.value()) +
      ", " +
      padding(s.padLeft, s.kernelWidth, s.dilationWidth, s.outputWidth.value(),
              s.strideWidth, s.inputWidth.value()) +
      "]";
  std::string blocked;
  if (isBlocked)
    blocked = "%a = stablehlo.convolution(%x, %k) dim_numbers = "
              "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} "
              "{batch_group_count = 1 : i64, feature_group_count = " +
              std::to_string(s.channels) + " : i64} : (" + type(x) + ", " +
              type({s.channels, 1, 1, 1}) + ") -> " + type(x) + "\n";
  return "(%x: " + type(x) + ", %y: " + type(y) +
         ", %k: " + type({s.channels, 1, 1, 1}) + ") -> " + type(w) + " {\n" +
         blocked + "%g = stablehlo.convolution(" + (isBlocked ? "%a" : "%x") +
         ", %y) dim_numbers = [f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, 1], window "
         "= {stride = " +
         pair(s.dilationHeight, s.dilationWidth) + ", pad = " + pads +
         ", rhs_dilate = " + pair(s.strideHeight, s.strideWidth) +
         "} {batch_group_count = " + std::to_string(s.channels) +
         " : i64, feature_group_count = 1 : i64} : (" + type(x) + ", " +
         type(y) + ") -> " + type(w) + "\nreturn %g : " + type(w) + "\n}";
}

} // namespace

TEST(DepthwiseGradient, IsWhatItsDefinitionSays) {
  check(shapeOf(2, 32, 14, 14, 3, 1, 1));
  check(shapeOf(1, 20, 15, 13, 3, 2, 1));
  check(shapeOf(1, 16, 7, 9, 5, 1, 2));
  check(shapeOf(1, 16, 12, 70, 3, 1, 2, 2));
  // No tap is in the input for all columns; some for none.
  check(shapeOf(1, 16, 3, 2, 5, 1, 2));
  check(shapeOf(1, 16, 2, 2, 7, 2, 5));
  check(shapeOf(3, 1, 1, 1, 1, 1, 0));
  ChannelwiseShape shape = shapeOf(1, 16, 9, 8, 3, 1, 0);
  shape.kernelWidth = 11;
  shape.strideWidth = 3;
  shape.dilationHeight = 2;
  shape.padTop = -1;
  shape.padLeft = 6;
  shape.outputHeight = 3;
  shape.outputWidth = 4;
  check(shape);
}

TEST(DepthwiseGradient, InPrograms) {
  for (bool isBlocked : {true, false})
    for (const ChannelwiseShape &shape :
         {shapeOf(2, 32, 8, 8, 3, 1, 1), shapeOf(3, 20, 9, 7, 3, 2, 1),
          shapeOf(2, 17, 6, 6, 5, 1, 2), shapeOf(2, 16, 10, 10, 3, 1, 2, 2),
          shapeOf(1, 16, 8, 8, 3, 1, 1), shapeOf(1, 20, 9, 7, 3, 2, 1)}) {
      // As it stands, and with the transposes that make it NCHW.
      const std::string body = bodyOf(shape, isBlocked);
      EXPECT_EQ(test::differs(body, {1e-4, 1e-4}), "") << body;
      std::shared_ptr<Program> program;
      EXPECT_EQ(test::differsRaised(body, {1e-4, 1e-4}, &program), "") << body;
      ASSERT_TRUE(program);
      EXPECT_TRUE(llvm::any_of(program->steps, [](const auto &step) {
        return step.kernelName == "depthwise gradient";
      })) << body;
    }
}

/// A filter that is larger than the kernel takes is computed otherwise.
TEST(DepthwiseGradient, OfTooManyTaps) {
  EXPECT_EQ(test::differs(bodyOf(shapeOf(2, 16, 16, 16, 13, 1, 6), true),
                          {1e-4, 1e-4}),
            "");
}
