//===- WinogradTest.cpp - fast convolutions of bytes are exact ------------===//
//
// Each generator against the definition, to the bit: bytes of both signs,
// zero points, shapes that leave parts of tiles, blocks and panels, all ways to
// cut the work; then whole programs against the oracle. Those of floats are in
// ConvolutionTest.cpp.
//
//===----------------------------------------------------------------------===//
//
// Covers: backend/cpu/kernels/conv WinogradArithmetic WinogradWeights

#include "backend/cpu/kernels/conv/Winograd.h"
#include "Sweep.h"
#include "backend/cpu/DynamicImages.h"
#include "backend/cpu/ForeignRunner.h"
#include "backend/cpu/KernelRunner.h"
#include "backend/cpu/WithoutMatrixUnits.h"
#include "backend/cpu/codegen/Codegen.h"
#include "graph/Types.h"
#include "runtime/CpuFeatures.h"
#include "runtime/Program.h"
#include "runtime/Random.h"
#include "runtime/Tensor.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;
using namespace sinter::test;

namespace {

using enum ElementType;

/// What this machine has, and what is less.
std::vector<Target> fastTargets() {
  std::vector<Target> list = {hostWithoutMatrixUnits()};
  if (list[0].f32Lanes > 8)
    for (const char *cpu : {"x86-64-v4", "x86-64-v3"})
      list.push_back(*Target::named("", cpu, ""));
  if (list[0].f32Lanes > 4)
    list.push_back(*Target::named("", "x86-64-v2", ""));
  if (llvm::is_contained(hostCpuFeatures(), "avxvnni"))
    list.push_back(*Target::named("", "x86-64-v3", "+avxvnni"));
  llvm::erase_if(list, [](const Target &each) { return !each.hasPairSum; });
  return list;
}

/// 64-bit Arm without products of four bytes a lane, which is emulated here;
/// none where it cannot be.
std::optional<Target> olderArm() {
  if (const std::string missing = missingForForeign(); !missing.empty()) {
    std::fprintf(stderr, "64-bit Arm is left out: no %s here\n",
                 missing.c_str());
    return std::nullopt;
  }
  return *Target::named("aarch64-unknown-linux-gnu", "cortex-a57", "");
}

struct FastLayer {
  int64_t batch, inputs, outputs, height, width;
  int64_t padTop = 1, padLeft = 1, padBottom = 1, padRight = 1;

  ConvolutionShape shape() const {
    ConvolutionShape shape;
    shape.batch = batch;
    shape.inputChannels = inputs;
    shape.outputChannels = outputs;
    shape.inputHeight = height;
    shape.inputWidth = width;
    shape.kernelHeight = shape.kernelWidth = 3;
    shape.padTop = padTop;
    shape.padLeft = padLeft;
    shape.outputHeight = height + padTop + padBottom - 2;
    shape.outputWidth = width + padLeft + padRight - 2;
    return shape;
  }
};

/// Bytes of a layer, and what the definition makes of them.
class FastCase {
public:
  FastCase(const FastLayer &layer, const Target &target,
           const WinogradArithmetic &arithmetic, int64_t zeroPoint,
           bool isInMemory)
      : shape(layer.shape()), target(target), arithmetic(arithmetic),
        lanes(target.f32Lanes), zeroPoint(zeroPoint),
        input(arithmetic.given.lhs, {layer.batch * blocks(layer.inputs) *
                                     shape.inputPixels().value() * lanes}),
        weights(arithmetic.given.rhs, {layer.outputs, layer.inputs, 3, 3}),
        zero(arithmetic.given.lhs, {1}) {
    shape.zeroPoint = isInMemory ? 0 : zeroPoint;
    shape.hasZeroInMemory = isInMemory;
    // Lanes beyond the last channel hold anything.
    fillRandom(input, 3);
    fillRandom(weights, 4);
    std::memset(zero.mutableBytes(), int(zeroPoint), 1);
  }

  ConvolutionShape shape;
  const Target &target;
  const WinogradArithmetic arithmetic;
  const int64_t lanes, zeroPoint;
  Tensor input, weights, zero;

  int64_t blocks(int64_t channels) const {
    return (channels + lanes - 1) / lanes;
  }
  int64_t at(int64_t image, int64_t channel, int64_t channels, int64_t pixel,
             int64_t pixels) const {
    return ((image * blocks(channels) + channel / lanes) * pixels + pixel) *
               lanes +
           channel % lanes;
  }

  int64_t expected(int64_t image, int64_t output, int64_t row,
                   int64_t column) const {
    int64_t sum = 0;
    for (int64_t tap = 0; tap < 9; ++tap) {
      const int64_t i = row + tap / 3 - shape.padTop,
                    j = column + tap % 3 - shape.padLeft;
      if (i < 0 || j < 0 || i >= shape.inputHeight.value() ||
          j >= shape.inputWidth.value())
        continue;
      for (int64_t c = 0; c < shape.inputChannels; ++c)
        sum += (input.toInteger(at(image, c, shape.inputChannels,
                                   i * shape.inputWidth.value() + j,
                                   shape.inputPixels().value())) -
                zeroPoint) *
               weights.toInteger((output * shape.inputChannels + c) * 9 + tap);
    }
    return sum;
  }

  void check() {
    SCOPED_TRACE(testing::Message()
                 << name(arithmetic.given.lhs) << " by "
                 << name(arithmetic.given.rhs) << ", " << shape.inputChannels
                 << " to " << shape.outputChannels << ", "
                 << shape.inputHeight.value() << "x" << shape.inputWidth.value()
                 << " from " << zeroPoint
                 << (shape.hasZeroInMemory ? " in memory" : "") << ", lanes "
                 << lanes << ", VNNI " << target.hasVnni);
    const Winograd winograd(shape, target, std::nullopt, arithmetic);
    Tensor packed(weights.type(), {winograd.packedElements()});
    winograd.pack(weights.data(), packed.mutableBytes());
    Tensor workspace(winograd.workspaceType(), {winograd.workspaceElements()});
    std::memset(workspace.mutableBytes(), 0x7f, workspace.bytes());
    Tensor output(I32, {shape.batch * blocks(shape.outputChannels) *
                        shape.outputPixels().value() * lanes});
    run(winograd, packed, workspace, output);
    for (int64_t n = 0; n < shape.batch; ++n)
      for (int64_t k = 0; k < shape.outputChannels; ++k)
        for (int64_t p = 0; p < shape.outputPixels().value(); ++p)
          ASSERT_EQ(output.toInteger(at(n, k, shape.outputChannels, p,
                                        shape.outputPixels().value())),
                    expected(n, k, p / shape.outputWidth.value(),
                             p % shape.outputWidth.value()))
              << "image " << n << " channel " << k << " pixel " << p;
  }

  /// Of the first stage of several.
  std::string assembly() {
    const Winograd winograd(shape, target, std::nullopt, arithmetic);
    EXPECT_GT(winograd.stages(), 1);
    Tensor packed(weights.type(), {winograd.packedElements()});
    Tensor workspace(winograd.workspaceType(), {winograd.workspaceElements()});
    Tensor output(I32, {shape.outputPixels().value() * lanes});
    KernelRunner runner(target);
    addStage(runner, winograd, 0, tensorsOf(packed, workspace, output));
    std::string assembly;
    CodegenDumps dumps;
    dumps.assembly = &assembly;
    Result<ObjectFile> object = cpu::compile(runner.module(), target, dumps);
    EXPECT_TRUE(object) << object.error().message();
    return assembly;
  }

private:
  std::array<Tensor *, 5> tensorsOf(Tensor &packed, Tensor &workspace,
                                    Tensor &output) {
    return {&input, &packed, &zero, &workspace, &output};
  }

  /// The kernel of one stage, on buffers of the sizes of \p tensors.
  static KernelContract addStage(KernelRunner &runner, const Winograd &winograd,
                                 int64_t stage,
                                 const std::array<Tensor *, 5> &tensors) {
    MLIRContext *context = &runner.context();
    llvm::SmallVector<KernelBuffer> buffers;
    for (Tensor *tensor : tensors)
      buffers.push_back({MemRefType::get({tensor->size()},
                                         storedType(tensor->type(), context)),
                         tensor == tensors[3] || tensor == tensors[4]});
    return createKernel(
        runner.module(), UnknownLoc::get(context), "kernel", buffers,
        [&](OpBuilder &builder, Location loc, Value task, ValueRange memory) {
          winograd.build(
              stage, builder, loc, task,
              {memory[0], memory[1], memory[3], memory[4], memory[2]}, {});
        });
  }

  /// Each stage is a kernel of its own. Rounds take turns with stages.
  void run(const Winograd &winograd, Tensor &packed, Tensor &workspace,
           Tensor &output) {
    std::vector<std::unique_ptr<KernelRunner>> runners;
    std::vector<KernelContract> contracts;
    std::vector<void *> arguments;
    for (Tensor *tensor : tensorsOf(packed, workspace, output))
      arguments.push_back(tensor->mutableBytes());
    for (int64_t stage = 0; stage < winograd.stages(); ++stage) {
      runners.push_back(std::make_unique<KernelRunner>(target));
      contracts.push_back(addStage(*runners.back(), winograd, stage,
                                   tensorsOf(packed, workspace, output)));
      contracts.back().tasks = winograd.tasks(stage);
      runners.back()->compile();
    }
    const bool hasRounds = winograd.rounds() > 1;
    for (int64_t round = 0; round < winograd.rounds(); ++round)
      for (size_t stage = 0; stage < runners.size(); ++stage) {
        const int64_t tasks = contracts[stage].tasks;
        if (hasRounds)
          runners[stage]->kernel("kernel")(arguments.data(), round * tasks,
                                           (round + 1) * tasks);
        else
          runners[stage]->run(contracts[stage], arguments);
      }
  }
};

std::optional<WinogradArithmetic> arithmeticOf(ElementType lhs, ElementType rhs,
                                               const Target &target,
                                               int64_t outputRows = 4) {
  return WinogradArithmetic::of(Arithmetic::ofBytes(lhs, rhs, target), target,
                                outputRows);
}

} // namespace

TEST(Winograd, OfBytes) {
  Sweep sweep(9);
  for (const Target &target : fastTargets())
    for (ElementType lhs : {UI8, I8})
      for (ElementType rhs : {I8, UI8})
        for (int64_t zeroPoint : {0, 3, -128, 255}) {
          if (lhs == I8 ? zeroPoint > 127 : zeroPoint < 0)
            continue;
          for (const FastLayer &layer : {FastLayer{1, 16, 16, 4, 4},
                                         {1, 37, 20, 6, 9},
                                         {2, 5, 70, 7, 5},
                                         {1, 40, 33, 13, 8, 0, 2, 1, 0},
                                         {3, 1, 1, 3, 3, 2, 2, 2, 2}})
            for (bool isInMemory : {false, true})
              for (int64_t rows : {4, 2})
                if (sweep.takesNext())
                  FastCase(layer, target, *arithmeticOf(lhs, rhs, target, rows),
                           zeroPoint, isInMemory)
                      .check();
        }
}

/// In three stages of one round, and in one.
TEST(Winograd, OfBytesOnOlderArm) {
  std::optional<Target> target = olderArm();
  if (!target)
    GTEST_SKIP();
  for (auto [lhs, rhs, zeroPoint, isInMemory] :
       {std::tuple{I8, I8, -128, true}, {UI8, I8, 255, false}})
    for (int64_t rows : {4, 2})
      FastCase({2, 5, 21, 7, 5}, *target,
               *arithmeticOf(lhs, rhs, *target, rows), zeroPoint, isInMemory)
          .check();
  target->l2Bytes = 16 << 10;
  FastCase fused({1, 7, 9, 26, 19}, *target, *arithmeticOf(I8, I8, *target), 9,
                 false);
  EXPECT_EQ(
      Winograd(fused.shape, *target, std::nullopt, fused.arithmetic).stages(),
      1);
  fused.check();
  // The greatest and the least numbers that transforms give.
  for (int sign : {1, -1}) {
    FastCase most({1, 115, 4, 4, 4}, *target, *arithmeticOf(UI8, I8, *target),
                  0, false);
    std::memset(most.input.mutableBytes(), 255, most.input.bytes());
    std::memset(most.weights.mutableBytes(), sign * 127, most.weights.bytes());
    most.check();
  }
}

/// Pixels that may lie outside of the image are read whole on every machine,
/// and not byte by byte.
TEST(Winograd, ReadsPixelsWhole) {
  for (const char *cpu : {"x86-64-v4", "x86-64-v3", "x86-64-v2"})
    for (bool isInMemory : {false, true}) {
      const Target target = *Target::named("", cpu, "");
      const std::string assembly =
          FastCase({1, 16, 16, 14, 14}, target, *arithmeticOf(UI8, I8, target),
                   3, isInMemory)
              .assembly();
      EXPECT_EQ(assembly.find("pinsrb"), std::string::npos) << cpu << "\n"
                                                            << assembly;
      EXPECT_LT(llvm::count(assembly, '\n'), 1700) << cpu;
    }
}

/// In one stage, and in three of several rounds.
TEST(Winograd, OfBytesInASmallCache) {
  for (Target target : fastTargets())
    for (int64_t outputRows : {4, 2}) {
      const auto arithmetic = *arithmeticOf(UI8, I8, target, outputRows);
      target.l2Bytes = 64 << 10;
      FastCase fused({2, 18, 20, 50, 37}, target, arithmetic, 9, false);
      EXPECT_EQ(
          Winograd(fused.shape, target, std::nullopt, arithmetic).stages(), 1);
      fused.check();
      target.l2Bytes = 8 << 10;
      FastCase rounds({2, 33, 40, 42, 57}, target, arithmetic, 9, true);
      const Winograd winograd(rounds.shape, target, std::nullopt, arithmetic);
      EXPECT_EQ(winograd.stages(), 3);
      EXPECT_GT(winograd.rounds(), 1);
      rounds.check();
    }
}

/// The greatest sums that come out, and the least that do not.
TEST(Winograd, SumsOfBytes) {
  for (const Target &target : fastTargets())
    for (int sign : {1, -1})
      for (int64_t channels : {115, 116}) {
        FastCase most({1, channels, 16, 6, 6}, target,
                      *arithmeticOf(UI8, I8, target), 0, false);
        std::memset(most.input.mutableBytes(), 255, most.input.bytes());
        std::memset(most.weights.mutableBytes(), sign * 127,
                    most.weights.bytes());
        // 115 * 9 * 127 * 255 is below 2^25.
        const bool holds = channels == 115;
        EXPECT_EQ(WinogradArithmetic::holdsSums(UI8, most.weights), holds);
        if (holds)
          most.check();
        FastCase fewRows({1, 115, 16, 6, 6}, target,
                         *arithmeticOf(UI8, I8, target, 2), 0, false);
        std::memset(fewRows.input.mutableBytes(), 255, fewRows.input.bytes());
        std::memset(fewRows.weights.mutableBytes(), sign * 127,
                    fewRows.weights.bytes());
        fewRows.check();
      }
  // Half of the weights on each side of 0: twice as many.
  for (ElementType type : {UI8, I8}) {
    Tensor weights(I8, {1, 200, 3, 3});
    for (int64_t i = 0; i < weights.size(); ++i)
      std::memset(weights.mutableBytes() + i, i % 2 ? 127 : -127, 1);
    EXPECT_EQ(WinogradArithmetic::holdsSums(type, weights), true);
    std::memset(weights.mutableBytes(), -127, 1800);
    EXPECT_EQ(WinogradArithmetic::holdsSums(type, weights), type == I8);
  }
  EXPECT_TRUE(WinogradArithmetic::holdsSums(UI8, Tensor(I8, {0, 4, 3, 3})));
}

/// Other sums, other elements, and machines that multiply four bytes a lane and
/// no pairs of 16 bits.
TEST(Winograd, WhatItIsNotFor) {
  const Target host = *Target::host();
  EXPECT_TRUE(WinogradArithmetic::of({}, host));
  for (const Arithmetic &other :
       {Arithmetic{F64, F64, F64}, Arithmetic{F32, F16, F32},
        Arithmetic{I8, F32, F32}, Arithmetic{I32, I32, I32}})
    EXPECT_FALSE(WinogradArithmetic::of(other, host));
  const Target arm =
      *Target::named("aarch64-unknown-linux-gnu", "neoverse-n1", "");
  EXPECT_FALSE(arithmeticOf(I8, I8, arm));
}

namespace {

/// By weights that are remainders of \p divisor.
std::string fastProgram(int64_t channels, int64_t size, int divisor) {
  const std::string c = std::to_string(channels);
  const std::string s = std::to_string(size) + "x" + std::to_string(size);
  const std::string count = std::to_string(channels * channels * 9);
  const std::string flat = "tensor<" + count + "xi32>",
                    kernel = "tensor<" + c + "x" + c + "x3x3xi32>",
                    image = "tensor<1x" + c + "x" + s + "xi32>",
                    bytes = "tensor<1x" + c + "x" + s + "xui8>";
  return "(%x: " + bytes + ") -> " + image +
         " {\n%i = stablehlo.iota dim = 0 : " + flat +
         "\n%k = stablehlo.constant dense<37> : " + flat +
         "\n%m = stablehlo.multiply %i, %k : " + flat +
         "\n%n = stablehlo.constant dense<" + std::to_string(divisor) +
         "> : " + flat + "\n%o = stablehlo.remainder %m, %n : " + flat +
         "\n%r = stablehlo.reshape %o : (" + flat + ") -> " + kernel +
         "\n%a = stablehlo.convert %x : (" + bytes + ") -> " + image +
         "\n%z = stablehlo.constant dense<7> : " + image +
         "\n%d = stablehlo.subtract %a, %z : " + image +
         "\n%y = stablehlo.convolution(%d, %r) dim_numbers = "
         "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], "
         "[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : "
         "i64} : (" +
         image + ", " + kernel + ") -> " + image + "\nreturn %y : " + image +
         "\n}";
}

bool usesFast(const Program &program) {
  return llvm::any_of(program.steps, [](const Step &step) {
    return Winograd::formOf(step.kernelName) != nullptr;
  });
}

} // namespace

/// By any precision, and where all sums fit; on every machine the oracle's
/// integers.
TEST(Winograd, InPrograms) {
  constexpr Tolerance exactly = {0, 0};
  for (Precision precision : {Precision::Exact, Precision::Default}) {
    CpuOptions options = optionsWithoutMatrixUnits();
    options.precision = precision;
    std::shared_ptr<Program> program;
    EXPECT_EQ(differsWith(fastProgram(96, 29, 128), exactly, options, &program),
              "");
    ASSERT_TRUE(program);
    EXPECT_EQ(usesFast(*program), options.target->hasPairSum);
  }
  // Sums of 300 channels might not come out.
  std::shared_ptr<Program> program;
  EXPECT_EQ(differs(fastProgram(300, 12, 128), exactly, &program,
                    hostWithoutMatrixUnits()),
            "");
  ASSERT_TRUE(program);
  EXPECT_FALSE(usesFast(*program));
  for (const Target &target : fastTargets())
    EXPECT_EQ(differs(fastProgram(40, 22, 100), exactly, nullptr, target), "");
}

/// Quantised images whose number and area are known when the program runs.
TEST(Winograd, OfDynamicImages) {
  const std::string input = "!quant.uniform<i8:f32, 0.01:3>",
                    weights = "!quant.uniform<i8:f32, 0.01>",
                    result = "!quant.uniform<i8:f32, 0.3:-8>";
  const std::string text =
      "(%x: tensor<?x64x?x?xf32> {sinter.dims = [\"N\", \"\", \"H\", "
      "\"W\"]}) -> tensor<?x72x?x?xf32> {\n%q = stablehlo.uniform_quantize %x "
      ": (tensor<?x64x?x?xf32>) -> tensor<?x64x?x?x" +
      input + R"(>
       %i = stablehlo.iota dim = 1 : tensor<72x64x3x3xf32>
       %j = stablehlo.iota dim = 3 : tensor<72x64x3x3xf32>
       %k = stablehlo.add %i, %j : tensor<72x64x3x3xf32>
       %s = stablehlo.sine %k : tensor<72x64x3x3xf32>
       %w = stablehlo.uniform_quantize %s : (tensor<72x64x3x3xf32>) ->
           tensor<72x64x3x3x)" +
      weights + R"(>
       %y = stablehlo.convolution(%q, %w)
           dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
           window = {pad = [[1, 1], [1, 1]]}
           {batch_group_count = 1 : i64, feature_group_count = 1 : i64} :
           (tensor<?x64x?x?x)" +
      input + ">, tensor<72x64x3x3x" + weights + ">) -> tensor<?x72x?x?x" +
      result + ">\n%r = stablehlo.uniform_dequantize %y : (tensor<?x72x?x?x" +
      result +
      ">) -> tensor<?x72x?x?xf32>\nreturn %r : "
      "tensor<?x72x?x?xf32>\n}";
  const Model model = parseModel(text);
  ASSERT_TRUE(model.entry());
  Target target = hostWithoutMatrixUnits();
  // In three stages, and in one.
  for (int64_t cache : {64 << 10, 512 << 10}) {
    target.l2Bytes = cache;
    auto program = compiled(text, target);
    ASSERT_TRUE(program && program->dynamic);
    EXPECT_EQ(usesFast(*program), target.hasPairSum);
    auto executor = executorOf(program, 2);
    for (auto [n, height, width] :
         {std::tuple{1, 8, 8}, {3, 5, 21}, {2, 31, 30}}) {
      Tensor images(F32, {n, 64, height, width});
      fillRandom(images, 3);
      auto expected = interpret(model.entry(), {images});
      ASSERT_TRUE(expected) << expected.error().message();
      expectNear(resultOf(*executor, images), (*expected)[0]);
    }
  }
}

/// Of two rows, half of a tile of four would be nothing. In one stage, and in
/// three.
TEST(Winograd, OfLowDynamicImages) {
  const std::string text = R"((%x: tensor<?x40x2x?xf32>
      {sinter.dims = ["N", "", "", "W"]}) -> tensor<?x72x2x?xf32> {
       %i = stablehlo.iota dim = 1 : tensor<72x40x3x3xf32>
       %j = stablehlo.iota dim = 3 : tensor<72x40x3x3xf32>
       %k = stablehlo.add %i, %j : tensor<72x40x3x3xf32>
       %w = stablehlo.sine %k : tensor<72x40x3x3xf32>
       %y = stablehlo.convolution(%x, %w)
           dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
           window = {pad = [[1, 1], [1, 1]]}
           {batch_group_count = 1 : i64, feature_group_count = 1 : i64} :
           (tensor<?x40x2x?xf32>, tensor<72x40x3x3xf32>) ->
           tensor<?x72x2x?xf32>
       return %y : tensor<?x72x2x?xf32>
     })";
  const Model model = parseModel(text);
  ASSERT_TRUE(model.entry());
  for (Target target : fastTargets())
    for (int64_t cache : {64 << 10, 512 << 10}) {
      target.l2Bytes = cache;
      auto program = compiled(text, target);
      ASSERT_TRUE(program && program->dynamic);
      const auto stages = llvm::count_if(program->steps, [](const Step &step) {
        return step.kernelName == "winograd-2x4";
      });
      EXPECT_EQ(stages, cache == 512 << 10 ? 1 : 3) << target.cpu;
      auto executor = executorOf(program, 2);
      for (auto [n, width] :
           {std::pair{1, 1}, {3, 7}, {1, 33}, {2, 100}, {0, 9}}) {
        Tensor images(F32, {n, 40, 2, width});
        fillRandom(images, 3);
        auto expected = interpret(model.entry(), {images});
        ASSERT_TRUE(expected) << expected.error().message();
        expectNear(resultOf(*executor, images), (*expected)[0]);
      }
    }
}
