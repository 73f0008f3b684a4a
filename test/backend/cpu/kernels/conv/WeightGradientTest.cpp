// Gradients of convolutions' weights: the generator by its definition, and
// whole programs against the oracle.
//
// Covers: backend/cpu/emit WeightGradientKernel
// Covers: backend/cpu/kernels/conv DepthwiseGradient WeightGradient
// Covers: backend/cpu/layout WeightGradientForm

#include "backend/cpu/kernels/conv/WeightGradient.h"
#include "backend/cpu/CompareWithInterpreter.h"
#include "backend/cpu/kernels/conv/GradientKernels.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

WeightGradientShape shapeOf(int64_t batch, int64_t inputs, int64_t outputs,
                            int64_t height, int64_t width, int64_t kernel,
                            int64_t stride, int64_t padding,
                            int64_t dilation = 1) {
  WeightGradientShape shape;
  shape.batch = batch;
  shape.inputs = inputs;
  shape.outputs = outputs;
  shape.inputHeight = height;
  shape.inputWidth = width;
  shape.kernelHeight = shape.kernelWidth = kernel;
  shape.strideHeight = shape.strideWidth = stride;
  shape.dilationHeight = shape.dilationWidth = dilation;
  shape.setPadding(padding, padding);
  return shape;
}

std::string describe(const WeightGradientShape &s) {
  return (testing::Message() << "N " << s.batch.value() << " C " << s.inputs
                             << " K " << s.outputs << " " << describeWindow(s))
      .GetString();
}

void check(const WeightGradientShape &s) {
  SCOPED_TRACE(describe(s));
  KernelRunner runner;
  const int64_t lanes = runner.target().f32Lanes, parts = s.parts(lanes);
  const int64_t inputBlocks = (s.inputs + lanes - 1) / lanes,
                outputBlocks = (s.outputs + lanes - 1) / lanes;
  WeightGradient generator(s, runner.target());
  Floats input(s.batch.value() * inputBlocks * lanes * s.inputPixels().value());
  Floats gradient(s.batch.value() * outputBlocks * lanes *
                  s.outputPixels().value());
  Floats sums(parts * inputBlocks * outputBlocks * lanes * lanes * s.taps());
  runGradient(runner, generator, input, gradient, sums);
  auto at = [&](const Floats &floats, int64_t n, int64_t blocks, int64_t c,
                int64_t pixels, int64_t pixel) -> double {
    return floats[((n * blocks + c / lanes) * pixels + pixel) * lanes +
                  c % lanes];
  };
  for (int64_t k = 0; k < s.outputs; ++k)
    for (int64_t c = 0; c < s.inputs; ++c)
      for (int64_t r = 0; r < s.kernelHeight; ++r)
        for (int64_t t = 0; t < s.kernelWidth; ++t) {
          double want = 0, got = 0;
          for (int64_t n = 0; n < s.batch.value(); ++n)
            for (int64_t p = 0; p < s.outputPixels().value(); ++p) {
              const int64_t ih = p / s.outputWidth.value() * s.strideHeight -
                                 s.padTop + r * s.dilationHeight,
                            iw = s.inputColumn(p % s.outputWidth.value(), t);
              if (ih >= 0 && iw >= 0 && ih < s.inputHeight.value() &&
                  iw < s.inputWidth.value())
                want += at(input, n, inputBlocks, c, s.inputPixels().value(),
                           ih * s.inputWidth.value() + iw) *
                        at(gradient, n, outputBlocks, k,
                           s.outputPixels().value(), p);
            }
          for (int64_t part = 0; part < parts; ++part) {
            int64_t place =
                (part * outputBlocks + k / lanes) * inputBlocks + c / lanes;
            place = (place * s.kernelHeight + r) * s.kernelWidth + t;
            got += sums[(place * lanes + c % lanes) * lanes + k % lanes];
          }
          ASSERT_NEAR(
              got, want,
              1e-6 * double(s.batch.value() * s.outputPixels().value()) + 1e-6)
              << "k " << k << " c " << c << " tap " << r << "," << t;
        }
}

/// The gradient of a convolution's weights in a program, behind a convolution
/// that leaves the input in blocks or not.
std::string bodyOf(const WeightGradientShape &s, bool isBlocked) {
  auto type = [](const Shape &shape) {
    return "tensor<" + toString(ElementType::F32, shape) + ">";
  };
  const std::string x = type({s.batch.value(), s.inputs, s.inputHeight.value(),
                              s.inputWidth.value()}),
                    y = type({s.batch.value(), s.outputs,
                              s.outputHeight.value(), s.outputWidth.value()}),
                    w = type(
                        {s.outputs, s.inputs, s.kernelHeight, s.kernelWidth}),
                    one = type({s.inputs, s.inputs, 1, 1});
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
  const std::string blocked =
      isBlocked ? "%a = stablehlo.convolution(%x, %k) dim_numbers = "
                  "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} "
                  "{batch_group_count = 1 : i64, feature_group_count = 1 : "
                  "i64} : (" +
                      x + ", " + one + ") -> " + x + "\n"
                : "";
  return "(%x: " + x + ", %y: " + y + ", %k: " + one + ") -> " + w + " {\n" +
         blocked + "%g = stablehlo.convolution(" + (isBlocked ? "%a" : "%x") +
         ", %y) dim_numbers = [f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, 1], window "
         "= {stride = " +
         pair(s.dilationHeight, s.dilationWidth) + ", pad = [" +
         padding(s.padTop, s.kernelHeight, s.dilationHeight,
                 s.outputHeight.value(), s.strideHeight,
                 s.inputHeight.value()) +
         ", " +
         padding(s.padLeft, s.kernelWidth, s.dilationWidth,
                 s.outputWidth.value(), s.strideWidth, s.inputWidth.value()) +
         "], rhs_dilate = " + pair(s.strideHeight, s.strideWidth) +
         "} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (" +
         x + ", " + y + ") -> " + w + "\nreturn %g : " + w + "\n}";
}

} // namespace

TEST(WeightGradient, IsWhatItsDefinitionSays) {
  check(shapeOf(2, 32, 32, 14, 14, 3, 1, 1));
  check(shapeOf(3, 3, 16, 15, 13, 3, 2, 1));
  check(shapeOf(2, 20, 40, 7, 9, 5, 1, 2));
  check(shapeOf(16, 16, 64, 6, 6, 1, 1, 0));
  check(shapeOf(1, 48, 48, 9, 70, 3, 1, 2, 2));
  check(shapeOf(1, 16, 32, 12, 12, 7, 2, 3));
  check(shapeOf(1, 1, 1, 1, 1, 1, 1, 0));
  // The last part has fewer images.
  check(shapeOf(17, 3, 16, 6, 5, 3, 1, 1));
  check(shapeOf(17, 32, 32, 5, 6, 3, 2, 1));
  check(shapeOf(19, 16, 40, 4, 4, 1, 1, 0));
  // No tap is in the input for all columns; some for none.
  check(shapeOf(2, 16, 16, 3, 2, 5, 1, 2));
  check(shapeOf(1, 16, 16, 2, 2, 7, 2, 5));
  WeightGradientShape shape = shapeOf(1, 18, 33, 9, 8, 3, 1, 0);
  shape.kernelWidth = 11;
  shape.strideWidth = 3;
  shape.dilationHeight = 2;
  shape.padTop = -1;
  shape.padLeft = 6;
  shape.outputHeight = 3;
  shape.outputWidth = 4;
  check(shape);
}

TEST(WeightGradient, PartsAreOfAsManyImages) {
  for (int64_t batch : {1, 2, 6, 7, 16, 17, 19, 30, 31, 97})
    for (int64_t channels : {3, 64, 512}) {
      const int64_t parts =
          shapeOf(batch, channels, channels, 8, 8, 3, 1, 1).parts(16);
      EXPECT_GE(parts, 1);
      const int64_t images = (batch + parts - 1) / parts;
      EXPECT_LT((parts - 1) * images, batch);
      // A batch that nothing divides has tasks for threads, too.
      if (batch >= 16 && channels == 3)
        EXPECT_GE(parts, 8) << batch;
    }
}

TEST(WeightGradient, InPrograms) {
  for (bool isBlocked : {true, false})
    for (const WeightGradientShape &shape :
         {shapeOf(2, 32, 16, 8, 8, 3, 1, 1), shapeOf(3, 20, 33, 9, 7, 3, 2, 1),
          shapeOf(4, 3, 17, 10, 10, 5, 1, 2), shapeOf(2, 16, 32, 4, 4, 1, 1, 0),
          shapeOf(2, 16, 16, 10, 10, 3, 1, 2, 2),
          shapeOf(17, 3, 16, 8, 8, 3, 1, 1), shapeOf(1, 20, 33, 8, 8, 3, 1, 1),
          shapeOf(1, 16, 16, 9, 7, 3, 2, 1),
          shapeOf(19, 20, 33, 6, 6, 3, 1, 1)}) {
      // As it stands, and with the transposes that make it NCHW.
      const std::string body = bodyOf(shape, isBlocked);
      EXPECT_EQ(test::differs(body, {1e-4, 1e-4}), "") << describe(shape);
      std::shared_ptr<Program> program;
      EXPECT_EQ(test::differsRaised(body, {1e-4, 1e-4}, &program), "")
          << describe(shape);
      ASSERT_TRUE(program);
      EXPECT_TRUE(llvm::any_of(program->steps, [](const auto &step) {
        return step.kernelName == "weight gradient";
      })) << describe(shape);
    }
}

/// What is larger than its windows are many, or larger than the kernel takes,
/// is computed otherwise.
TEST(WeightGradient, OfOtherWindows) {
  for (const WeightGradientShape &shape : {shapeOf(2, 16, 16, 16, 16, 13, 1, 6),
                                           shapeOf(2, 16, 16, 2, 2, 3, 1, 1)}) {
    std::shared_ptr<Program> program;
    EXPECT_EQ(test::differs(bodyOf(shape, true), {1e-4, 1e-4}, &program), "");
    ASSERT_TRUE(program);
    EXPECT_FALSE(llvm::any_of(program->steps, [](const auto &step) {
      return step.kernelName == "weight gradient";
    }));
  }
}
