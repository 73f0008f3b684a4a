//===- ConvolutionTest.cpp ------------------------------------------------===//
//
// Covers: backend/cpu/emit ConvolutionKernel
// Covers: backend/cpu/kernels/conv WinogradArithmetic WinogradWeights
// Covers: backend/cpu/kernels/conv Convolution
// Covers: backend/cpu/kernels/conv ConvolutionReduction ConvolutionWeights
// Covers: backend/cpu/kernels/conv Winograd
// Covers: backend/cpu/kernels/conv Window

#include "backend/cpu/KernelBuffers.h"
#include "backend/cpu/KernelRunner.h"
#include "backend/cpu/kernels/conv/Winograd.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

/// Element (n, c, pixel) of a blocked activation.
int64_t blockedIndex(int64_t n, int64_t c, int64_t pixel, int64_t channels,
                     int64_t pixels, int64_t lanes) {
  int64_t blocks = (channels + lanes - 1) / lanes;
  return ((n * blocks + c / lanes) * pixels + pixel) * lanes + c % lanes;
}

/// Computes the definition for one output.
double reference(const ConvolutionShape &s, const Floats &input,
                 const Floats &weights, int64_t n, int64_t k, int64_t oh,
                 int64_t ow) {
  int64_t groupInputs = s.inputChannels / s.groups;
  int64_t group = k / (s.outputChannels / s.groups);
  double sum = 0;
  for (int64_t c = 0; c < groupInputs; ++c)
    for (int64_t r = 0; r < s.kernelHeight; ++r)
      for (int64_t t = 0; t < s.kernelWidth; ++t) {
        int64_t ih = oh * s.strideHeight - s.padTop + r * s.dilationHeight;
        int64_t iw = ow * s.strideWidth - s.padLeft + t * s.dilationWidth;
        if (ih < 0 || iw < 0 || ih >= s.inputHeight.value() ||
            iw >= s.inputWidth.value())
          continue;
        int64_t channel = group * groupInputs + c;
        double x =
            input[((n * s.inputChannels + channel) * s.inputHeight.value() +
                   ih) *
                      s.inputWidth.value() +
                  iw];
        double w = weights[((k * groupInputs + c) * s.kernelHeight + r) *
                               s.kernelWidth +
                           t];
        sum += x * w;
      }
  return sum;
}

/// Compiles the convolution with an epilogue that adds a tensor of the output's
/// shape, runs it in two parts, and compares it with the definition.
void check(const ConvolutionShape &s, const Target &target,
           const Winograd::Form *form = nullptr) {
  const bool useWinograd = form;
  SCOPED_TRACE(testing::Message()
               << "C " << s.inputChannels << " K " << s.outputChannels
               << " groups " << s.groups << " input " << s.inputHeight.value()
               << "x" << s.inputWidth.value() << " output "
               << s.outputHeight.value() << "x" << s.outputWidth.value()
               << " kernel " << s.kernelHeight << "x" << s.kernelWidth
               << " stride " << s.strideHeight << " dilation "
               << s.dilationHeight << " pad " << s.padTop << "," << s.padLeft
               << " lanes " << target.f32Lanes << " planar " << s.hasPlanarInput
               << " " << (form ? form->kernel.str() : "direct"));
  KernelRunner runner(target);
  Convolution convolution(s, target);
  WinogradArithmetic arithmetic;
  arithmetic.outputRows = form ? form->outputRows : 4;
  Winograd winograd(s, target, std::nullopt, arithmetic);
  const int64_t lanes = target.f32Lanes;
  const int64_t inPixels = s.inputHeight.value() * s.inputWidth.value();
  const int64_t outPixels = s.outputHeight.value() * s.outputWidth.value();
  auto stored = [&](int64_t channels) {
    return (channels + lanes - 1) / lanes * lanes;
  };

  std::mt19937 generator(5);
  Floats plain(s.batch * s.inputChannels * inPixels);
  Floats weights(s.outputChannels * (s.inputChannels / s.groups) *
                 s.kernelHeight * s.kernelWidth);
  Floats packed(useWinograd ? winograd.packedElements()
                            : convolution.packedElements());
  Floats workspace(useWinograd ? winograd.workspaceElements() : 1, NAN);
  Floats blocked(s.batch * stored(s.inputChannels) * inPixels, NAN);
  Floats output(s.batch * stored(s.outputChannels) * outPixels, -5);
  Floats residual(output.size());
  for (Floats *floats : {&plain, &weights, &residual})
    floats->randomize(generator);
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t c = 0; c < s.inputChannels; ++c)
      for (int64_t p = 0; p < inPixels; ++p)
        blocked[blockedIndex(n, c, p, s.inputChannels, inPixels, lanes)] =
            plain[(n * s.inputChannels + c) * inPixels + p];
  if (useWinograd)
    winograd.pack(weights.data(), packed.data());
  else
    convolution.pack(weights.data(), packed.data());
  Floats &input = s.hasPlanarInput ? plain : blocked;

  auto type = [&](const Floats &floats) {
    return MemRefType::get({floats.size()},
                           Float32Type::get(&runner.context()));
  };
  KernelBuffer buffers[] = {{type(input)},
                            {type(packed)},
                            {type(output), true},
                            {type(workspace), true},
                            {type(residual)}};
  const int64_t stages = useWinograd ? winograd.stages() : 1;
  for (int64_t stage = 0; stage < stages; ++stage)
    createKernel(
        runner.module(), UnknownLoc::get(&runner.context()),
        "conv" + std::to_string(stage), buffers,
        [&](OpBuilder &builder, Location loc, Value task, ValueRange memrefs) {
          auto addResidual = [&](OpBuilder &builder, Location loc, Value vector,
                                 const BlockedPosition &at) -> Value {
            Value addend = builder.create<vector::LoadOp>(
                loc, cast<VectorType>(vector.getType()), memrefs[4], at.offset);
            return builder.create<arith::AddFOp>(loc, vector, addend);
          };
          if (useWinograd)
            winograd.build(stage, builder, loc, task,
                           {memrefs[0], memrefs[1], memrefs[3], memrefs[2]},
                           addResidual);
          else
            convolution.build(builder, loc, task, memrefs[0], memrefs[1],
                              memrefs[2], addResidual);
        });
  runner.compile();
  void *arguments[] = {input.data(), packed.data(), output.data(),
                       workspace.data(), residual.data()};
  const int64_t rounds = useWinograd ? winograd.rounds() : 1;
  for (int64_t round = 0; round < rounds; ++round)
    for (int64_t stage = 0; stage < stages; ++stage) {
      KernelFunction *kernel = runner.kernel("conv" + std::to_string(stage));
      int64_t tasks =
          useWinograd ? winograd.tasks(stage) : s.batch * convolution.tasks();
      const int64_t first = round * tasks;
      kernel(arguments, first + tasks / 3, first + tasks);
      kernel(arguments, first, first + tasks / 3);
    }

  EXPECT_TRUE(workspace.guardsAreIntact());
  EXPECT_TRUE(output.guardsAreIntact());
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t k = 0; k < s.outputChannels; ++k)
      for (int64_t p = 0; p < outPixels; ++p) {
        int64_t at = blockedIndex(n, k, p, s.outputChannels, outPixels, lanes);
        double expected = residual[at] + reference(s, plain, weights, n, k,
                                                   p / s.outputWidth.value(),
                                                   p % s.outputWidth.value());
        double tolerance = useWinograd ? 2e-4 : 2e-5;
        ASSERT_NEAR(output[at], expected, tolerance + 4e-6 * std::abs(expected))
            << "n " << n << " k " << k << " row " << p / s.outputWidth.value()
            << " column " << p % s.outputWidth.value();
      }
}

/// The same of fast convolutions, by each tile.
void checkFast(const ConvolutionShape &shape, const Target &target) {
  for (const Winograd::Form &form : Winograd::forms())
    check(shape, target, &form);
}

ConvolutionShape square(int64_t c, int64_t k, int64_t size, int64_t kernel,
                        int64_t stride, int64_t padding) {
  ConvolutionShape shape;
  shape.inputChannels = c;
  shape.outputChannels = k;
  shape.inputHeight = shape.inputWidth = size;
  shape.kernelHeight = shape.kernelWidth = kernel;
  shape.strideHeight = shape.strideWidth = stride;
  shape.setPadding(padding, padding);
  return shape;
}

TEST(Convolution, Pointwise) {
  check(square(32, 64, 7, 1, 1, 0), *Target::host());
  check(square(48, 48, 13, 1, 1, 0), *Target::host());
  check(square(24, 20, 5, 1, 1, 0), *Target::host());
  check(square(16, 32, 9, 1, 2, 0), *Target::host());
  check(square(1, 1, 1, 1, 1, 0), *Target::host());
}

TEST(Convolution, ThreeByThree) {
  check(square(32, 32, 14, 3, 1, 1), *Target::host());
  check(square(16, 48, 28, 3, 1, 1), *Target::host());
  check(square(32, 64, 7, 3, 1, 1), *Target::host());
  check(square(16, 32, 56, 3, 1, 1), *Target::host());
  check(square(20, 40, 15, 3, 2, 1), *Target::host());
  check(square(16, 16, 3, 3, 1, 0), *Target::host());
}

TEST(Convolution, OtherWindows) {
  ConvolutionShape shape = square(16, 32, 20, 5, 1, 2);
  check(shape, *Target::host());
  shape.dilationHeight = shape.dilationWidth = 3;
  shape.setPadding(6, 6);
  check(shape, *Target::host());
  shape.kernelHeight = 1;
  shape.kernelWidth = 7;
  shape.setPadding(0, 9);
  check(shape, *Target::host());
  shape.kernelHeight = 7;
  shape.kernelWidth = 1;
  shape.batch = 2;
  shape.setPadding(9, 0);
  check(shape, *Target::host());
  // More padding than input, on one side.
  shape = square(16, 16, 4, 3, 1, 5);
  check(shape, *Target::host());
  // Asymmetric, and rows left out.
  shape = square(16, 16, 12, 3, 2, 0);
  shape.padTop = -1;
  shape.outputWidth = 6;
  check(shape, *Target::host());
}

/// Code grows with the ways in which a tile meets the input, not with padding.
TEST(Convolution, MuchPadding) {
  ConvolutionShape shape = square(16, 16, 3, 3, 1, 90);
  check(shape, *Target::host());
  shape.dilationHeight = shape.dilationWidth = 40;
  shape.setPadding(100, 110);
  check(shape, *Target::host());
  shape = square(16, 16, 5, 3, 2, 0);
  shape.kernelHeight = 1;
  shape.setPadding(0, 50000);
  check(shape, *Target::host());
}

TEST(Convolution, Groups) {
  ConvolutionShape shape = square(64, 96, 10, 3, 1, 1);
  shape.groups = 2;
  shape.batch = 2;
  check(shape, *Target::host());
  shape = square(96, 48, 6, 1, 1, 0);
  shape.groups = 3;
  check(shape, *Target::host());
  // Groups that are no whole blocks.
  shape.groups = 24;
  check(shape, *Target::host());
  shape = square(12, 18, 9, 3, 1, 1);
  shape.groups = 3;
  check(shape, *Target::host());
  shape = square(10, 20, 9, 3, 2, 1);
  shape.groups = 10;
  check(shape, *Target::host());
  shape.hasPlanarInput = true;
  check(shape, *Target::host());
}

TEST(Convolution, PlanarInput) {
  ConvolutionShape shape = square(3, 64, 32, 7, 2, 3);
  shape.hasPlanarInput = true;
  check(shape, *Target::host());
  shape = square(1, 8, 28, 5, 1, 2);
  shape.hasPlanarInput = true;
  shape.batch = 3;
  check(shape, *Target::host());
}

TEST(Convolution, Winograd) {
  checkFast(square(16, 16, 4, 3, 1, 1), *Target::host());
  checkFast(square(32, 48, 14, 3, 1, 1), *Target::host());
  checkFast(square(20, 40, 15, 3, 1, 0), *Target::host());
  ConvolutionShape shape = square(40, 16, 9, 3, 1, 1);
  shape.batch = 3;
  checkFast(shape, *Target::host());
  shape = square(16, 24, 10, 3, 1, 2);
  shape.padLeft = 0;
  checkFast(shape, *Target::host());
  // A smaller cache, so that tiles go through scratch memory group by group.
  Target small = *Target::host();
  small.l2Bytes = 64 << 10;
  shape = square(16, 16, 50, 3, 1, 1);
  EXPECT_EQ(Winograd(shape, small).stages(), 1);
  checkFast(shape, small);
  shape.batch = 2;
  shape.outputChannels = 10;
  checkFast(shape, small);
}

/// More tiles than the workspace is for: round by round.
TEST(Convolution, WinogradInRounds) {
  Target small = *Target::host();
  small.l2Bytes = 16 << 10;
  for (auto [c, k, size, rounds] :
       {std::tuple(16, 32, 40, 2), std::tuple(40, 48, 57, 3),
        std::tuple(32, 16, 56, 3)}) {
    ConvolutionShape shape = square(c, k, size, 3, 1, 1);
    const Winograd winograd(shape, small);
    EXPECT_EQ(winograd.stages(), 3);
    EXPECT_EQ(winograd.rounds(), rounds);
    checkFast(shape, small);
  }
  ConvolutionShape shape = square(24, 30, 37, 3, 1, 0);
  shape.batch = 3;
  EXPECT_GT(Winograd(shape, small).rounds(), 1);
  checkFast(shape, small);
  // 256 channels of 512 x 512 would take 1.2 GB at once.
  Target large = *Target::host();
  large.l2Bytes = 2 << 20;
  EXPECT_LE(
      Winograd(square(256, 256, 512, 3, 1, 1), large).workspaceElements() * 4,
      int64_t(34) << 20);
}

TEST(Convolution, RandomShapes) {
  std::mt19937 generator(3);
  auto upTo = [&](int limit) { return int64_t(generator() % limit + 1); };
  for (int i = 0; i < 12; ++i) {
    ConvolutionShape shape;
    shape.batch = upTo(2);
    shape.inputChannels = upTo(40);
    shape.outputChannels = upTo(70);
    shape.inputHeight = upTo(12) + 6;
    shape.inputWidth = upTo(30) + 6;
    shape.kernelHeight = upTo(4);
    shape.kernelWidth = upTo(4);
    shape.strideHeight = upTo(3);
    shape.strideWidth = upTo(3);
    shape.dilationHeight = upTo(2);
    shape.dilationWidth = upTo(2);
    shape.hasPlanarInput = generator() % 4 == 0;
    shape.setPadding(generator() % 3, generator() % 3);
    check(shape, *Target::host());
  }
}

TEST(Convolution, NarrowerMachines) {
  Result<Target> avx2 = Target::named("", "haswell", "");
  Result<Target> sse = Target::named("", "x86-64", "");
  ASSERT_TRUE(avx2 && sse);
  if (Target::host()->f32Lanes < 8)
    GTEST_SKIP() << "needs AVX2";
  for (const Target &target : {*avx2, *sse}) {
    check(square(16, 24, 14, 3, 1, 1), target);
    check(square(20, 40, 9, 1, 1, 0), target);
    checkFast(square(12, 20, 9, 3, 1, 1), target);
  }
}

} // namespace
