//===- KernelBench.cpp - how fast the generated kernels are ---------------===//
//
//   kernel-bench [FILTER] [SECONDS]
//
// Compiles every kernel whose name contains FILTER and calls it for SECONDS on
// one thread. Prints the rate of the fastest call, the time that compiling took
// and the size of the operands.
//
//===----------------------------------------------------------------------===//

#include "backend/cpu/KernelBuffers.h"
#include "backend/cpu/KernelRunner.h"
#include "backend/cpu/cost/Estimates.h"
#include "backend/cpu/emit/Math.h"
#include "backend/cpu/kernels/attention/Attention.h"
#include "backend/cpu/kernels/conv/Channelwise.h"
#include "backend/cpu/kernels/conv/Winograd.h"
#include "backend/cpu/kernels/gemm/MatMul.h"
#include "graph/Types.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

double now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

struct Options {
  std::string filter;
  double seconds = 0.3;
};

/// One line of the report, and what the whole list adds up to.
class Report {
public:
  explicit Report(Options options) : options(std::move(options)) {}

  bool wants(const std::string &name) const {
    return name.find(options.filter) != std::string::npos;
  }

  /// Runs the kernels "kernel", or "kernel0", "kernel1", ... with as many tasks
  /// as \p tasks says.
  void measure(const std::string &name, KernelRunner &runner,
               std::vector<int64_t> tasks, double flops,
               std::vector<Floats *> buffers, int64_t weight = 1,
               bool holdsHalves = false) {
    runner.compile();
    std::mt19937 generator(1);
    std::vector<void *> arguments;
    for (Floats *buffer : buffers) {
      buffer->randomize(generator);
      if (holdsHalves)
        // A number of each type, whichever half of a word holds it.
        std::fill_n(reinterpret_cast<uint32_t *>(buffer->data()),
                    buffer->size(), 0x3c003c00);
      arguments.push_back(buffer->data());
    }
    std::vector<KernelFunction *> kernels;
    for (size_t i = 0; i < tasks.size(); ++i)
      kernels.push_back(runner.kernel(
          tasks.size() == 1 ? "kernel" : "kernel" + std::to_string(i)));
    double best = 1e9, end = now() + options.seconds;
    for (int calls = 0; calls < 3 || now() < end; ++calls) {
      double start = now();
      for (size_t i = 0; i < tasks.size(); ++i)
        kernels[i](arguments.data(), 0, tasks[i]);
      best = std::min(best, now() - start);
    }
    std::printf("%-44s %8.1f GFLOP/s %9.4f ms   compiled in %4.0f ms\n",
                name.c_str(), flops / best / 1e9, best * 1e3,
                runner.compileSeconds() * 1e3);
    std::fflush(stdout);
    totalFlops += flops * weight;
    totalSeconds += best * weight;
    compileSeconds += runner.compileSeconds();
  }

  void total(const char *name) {
    if (totalSeconds > 0)
      std::printf("%-44s %8.1f GFLOP/s %9.4f ms   compiled in %4.0f ms\n\n",
                  name, totalFlops / totalSeconds / 1e9, totalSeconds * 1e3,
                  compileSeconds * 1e3);
    totalFlops = totalSeconds = compileSeconds = 0;
  }

private:
  Options options;
  double totalFlops = 0, totalSeconds = 0, compileSeconds = 0;
};

MemRefType flatType(const Floats &floats, MLIRContext &context) {
  return MemRefType::get({floats.size()}, Float32Type::get(&context));
}

/// What a network does with the results of its products, on f32 or vectors.
struct Activation {
  const char *name;
  Value (*emit)(KernelBuilder &, Value);
  bool isLong = true;
};

Value number(KernelBuilder &code, Value like, float value) {
  TypedAttr scalar = code.builder.getF32FloatAttr(value);
  auto vector = dyn_cast<VectorType>(like.getType());
  return code.create<arith::ConstantOp>(
      vector ? TypedAttr(DenseElementsAttr::get(vector, Attribute(scalar)))
             : scalar);
}

Value emitClamp(KernelBuilder &code, Value x) {
  Value above = code.create<arith::MaximumFOp>(x, number(code, x, 0));
  return code.create<arith::MinimumFOp>(above, number(code, x, 6));
}

Value emitSilu(KernelBuilder &code, Value x) {
  return code.create<arith::MulFOp>(x, emitLogistic(code, x));
}

/// x / 2 * (1 + \p part)
Value emitHalfOf(KernelBuilder &code, Value x, Value part) {
  Value half = code.create<arith::MulFOp>(x, number(code, x, 0.5f));
  return code.create<arith::MulFOp>(
      half, code.create<arith::AddFOp>(part, number(code, x, 1)));
}

Value emitGelu(KernelBuilder &code, Value x) {
  Value scaled =
      code.create<arith::MulFOp>(x, number(code, x, std::sqrt(0.5f)));
  return emitHalfOf(code, x, emitErf(code, scaled));
}

Value emitTanhGelu(KernelBuilder &code, Value x) {
  Value cube = code.create<arith::MulFOp>(code.create<arith::MulFOp>(x, x), x);
  Value sum = code.create<arith::AddFOp>(
      x, code.create<arith::MulFOp>(cube, number(code, x, 0.044715f)));
  Value scaled = code.create<arith::MulFOp>(sum, number(code, x, 0.79788456f));
  return emitHalfOf(code, x, emitTanh(code, scaled));
}

/// \p activation behind the results of a generator.
template <typename Epilogue> Epilogue epilogueOf(const Activation &activation) {
  Epilogue epilogue;
  if (activation.emit)
    epilogue = [emit = activation.emit](OpBuilder &builder, Location loc,
                                        Value vector, const auto &) {
      KernelBuilder code(builder, loc);
      return emit(code, vector);
    };
  epilogue.isLong = activation.isLong;
  return epilogue;
}

constexpr Activation none = {"", nullptr};
constexpr Activation activations[] = {{" + clamp", emitClamp, false},
                                      {" + SiLU", emitSilu},
                                      {" + GELU", emitGelu},
                                      {" + GELU (tanh)", emitTanhGelu}};

/// The memory of \p floats as elements of \p type.
MemRefType flatType(const Floats &floats, ElementType type,
                    MLIRContext &context) {
  const int64_t elements = floats.size() * 4 / int64_t(byteSize(type));
  return MemRefType::get({elements}, storedType(type, &context));
}

/// As many floats as take the memory of \p elements of \p type.
int64_t floatsOf(int64_t elements, ElementType type) {
  return (elements * int64_t(byteSize(type)) + 3) / 4;
}

/// "u8 " before the names of what multiplies bytes, "f32*f16 " before those of
/// f32 by f16.
std::string prefixOf(const Arithmetic &arithmetic) {
  if (arithmetic == Arithmetic())
    return "";
  std::string left(name(arithmetic.lhs));
  return isByte(arithmetic.lhs)
             ? left + " "
             : left + "*" + std::string(name(arithmetic.rhs)) + " ";
}

bool isHalf(const Arithmetic &arithmetic) {
  return arithmetic.lhsBytes() == 2 || arithmetic.rhsBytes() == 2;
}

/// Products in f32 of operands of which one has 16 bits.
constexpr Arithmetic halves[] = {{ElementType::F32, ElementType::F16},
                                 {ElementType::F32, ElementType::BF16},
                                 {ElementType::F16, ElementType::F32},
                                 {ElementType::BF16, ElementType::F32}};

void benchMatMul(Report &report, const std::string &what, MatMulShape shape,
                 int64_t batches = 1, const Arithmetic &arithmetic = {},
                 const Activation &activation = none) {
  std::string name = prefixOf(arithmetic) + "matmul " + what + " " +
                     std::to_string(shape.m) + "x" + std::to_string(shape.n) +
                     "x" + std::to_string(shape.k) + activation.name;
  if (!report.wants(name))
    return;
  KernelRunner runner;
  MatMul matmul(shape, runner.target(), arithmetic);
  bool isPacked = shape.bLayout == MatMulShape::BLayout::Packed;
  Floats a(floatsOf(batches * shape.m * shape.k, arithmetic.lhs));
  Floats b(
      floatsOf(isPacked ? matmul.packedElements() : batches * shape.n * shape.k,
               arithmetic.rhs));
  Floats c(batches * shape.m * shape.n);
  Floats scratch(floatsOf(std::max<int64_t>(matmul.scratchElements(), 1),
                          matmul.scratchType()));
  MLIRContext &context = runner.context();
  KernelBuffer buffers[] = {
      {flatType(a, arithmetic.lhs, context)},
      {flatType(b, arithmetic.rhs, context)},
      {flatType(c, arithmetic.accumulator, context), true},
      {flatType(scratch, matmul.scratchType(), context), true}};
  const int64_t stages = matmul.stages();
  const auto epilogue = epilogueOf<MatMulEpilogue>(activation);
  for (int64_t stage = 0; stage < stages; ++stage)
    createKernel(
        runner.module(), UnknownLoc::get(&context),
        stages == 1 ? "kernel" : "kernel" + std::to_string(stage), buffers,
        [&](OpBuilder &builder, Location loc, Value task, ValueRange memrefs) {
          MatMulRequest request{memrefs[0], memrefs[1], memrefs[2], memrefs[3],
                                epilogue};
          request.stage = stage;
          // Bytes that are both computed count from other numbers than 0.
          if (matmul.packsBytes()) {
            auto number = [&](int32_t zero) {
              return builder.create<arith::ConstantOp>(
                  loc, builder.getI32IntegerAttr(zero));
            };
            request.zeros = {number(3), number(5)};
          }
          matmul.build(builder, loc, task, request);
        });
  report.measure(name, runner, std::vector<int64_t>(stages, matmul.tasks()),
                 matmul.flops(), {&a, &b, &c, &scratch}, 1, isHalf(arithmetic));
}

constexpr std::tuple<int64_t, int64_t, int64_t> bertProducts[] = {
    {128, 768, 768},    {128, 3072, 768}, {128, 768, 3072}, {197, 3072, 768},
    {1024, 1024, 1024}, {1, 1000, 2048},  {1, 4096, 4096},  {4, 768, 768}};

Arithmetic bytesOfHost() {
  const Target target = *Target::host();
  return Arithmetic::ofBytes(Arithmetic::bestInt8(target), ElementType::I8,
                             target);
}

/// Weights of fewer bits than activations, with a scale for a block or without.
void benchNarrow(Report &report, ElementType weights, MatMulShape shape) {
  const int64_t block = shape.blocks.size;
  std::string name = "narrow " + std::string(sinter::name(weights)) + " " +
                     std::to_string(shape.m) + "x" + std::to_string(shape.n) +
                     "x" + std::to_string(shape.k) +
                     (block ? " by " + std::to_string(block) : "") +
                     (shape.blocks.zero ? " from zero points" : "");
  if (!report.wants(name))
    return;
  KernelRunner runner;
  const Arithmetic arithmetic = Arithmetic::ofNarrow(
      ElementType::F32, weights, ElementType::F32, runner.target());
  MatMul matmul(shape, runner.target(), arithmetic);
  Floats a(shape.m * shape.k), c(shape.m * shape.n);
  Floats b(floatsOf(matmul.packedElements(), weights));
  Floats scales(std::max<int64_t>(1, matmul.packedNumbers()));
  Floats zeros(std::max<int64_t>(1, matmul.packedNumbers()));
  Floats scratch(std::max<int64_t>(1, matmul.scratchElements()));
  MLIRContext &context = runner.context();
  const ElementType zero = shape.blocks.zero.value_or(ElementType::F32);
  KernelBuffer buffers[] = {
      {flatType(a, context)},       {flatType(b, weights, context)},
      {flatType(c, context), true}, {flatType(scratch, context), true},
      {flatType(scales, context)},  {flatType(zeros, zero, context)}};
  const int64_t stages = matmul.stages();
  for (int64_t stage = 0; stage < stages; ++stage)
    createKernel(
        runner.module(), UnknownLoc::get(&context),
        stages == 1 ? "kernel" : "kernel" + std::to_string(stage), buffers,
        [&](OpBuilder &builder, Location loc, Value task, ValueRange memrefs) {
          MatMulRequest request{memrefs[0], memrefs[1], memrefs[2], memrefs[3]};
          request.stage = stage;
          if (shape.blocks.scale)
            request.numbers.scales = memrefs[4];
          if (shape.blocks.zero)
            request.numbers.zeros = memrefs[5];
          matmul.build(builder, loc, task, request);
        });
  report.measure(name, runner, std::vector<int64_t>(stages, matmul.tasks()),
                 matmul.flops(), {&a, &b, &c, &scratch, &scales, &zeros});
}

void benchNarrows(Report &report) {
  using enum ElementType;
  for (auto [m, n, k] :
       std::initializer_list<std::array<int64_t, 3>>{{1, 3072, 768},
                                                     {1, 50257, 768},
                                                     {4, 3072, 768},
                                                     {16, 3072, 768},
                                                     {128, 3072, 768},
                                                     {128, 768, 3072},
                                                     {197, 768, 3072}}) {
    MatMulShape shape = MatMulShape::dense(m, n, k);
    shape.holdsSums = true;
    for (ElementType weights : {F32, BF16, F16, F8E4M3FN, I8, UI8, I4})
      benchNarrow(report, weights, shape);
    shape.blocks = {32, F32, {}};
    for (ElementType weights : {I8, I4})
      benchNarrow(report, weights, shape);
    shape.blocks.zero = UI8;
    benchNarrow(report, UI4, shape);
  }
  report.total("products by narrow weights");
}

/// The products of an attention of 12 heads of 64 elements, which lie behind
/// the rows: queries by keys, and weights by values.
void benchHeads(Report &report, int64_t rows, const Arithmetic &arithmetic) {
  const int64_t heads = 12, size = 64;
  MatMulShape scores = MatMulShape::dense(rows, rows, size);
  scores.aRowStride = scores.bStride = heads * size;
  scores.bLayout = MatMulShape::BLayout::Transposed;
  scores.batch = {{heads, size, size, rows * rows}};
  scores.turnsB = isByte(arithmetic.rhs);
  benchMatMul(report, "scores", scores, heads, arithmetic);
  MatMulShape values = MatMulShape::dense(rows, size, rows);
  values.bStride = values.cRowStride = heads * size;
  values.bLayout = MatMulShape::BLayout::CopiedRows;
  values.batch = {{heads, rows * rows, size, size}};
  values.turnsB = scores.turnsB;
  benchMatMul(report, "values", values, heads, arithmetic);
}

void benchMatMuls(Report &report) {
  for (auto [m, n, k] : bertProducts) {
    MatMulShape shape = MatMulShape::dense(m, n, k);
    shape.holdsSums = true;
    benchMatMul(report, "packed", shape);
  }
  for (auto [m, n, k] : bertProducts)
    benchMatMul(report, "packed", MatMulShape::dense(m, n, k), 1,
                bytesOfHost());
  report.total("products of bytes");
  for (const Arithmetic &arithmetic : halves) {
    for (auto [m, n, k] : bertProducts)
      benchMatMul(report, "packed", MatMulShape::dense(m, n, k), 1, arithmetic);
    report.total("products of half precision");
  }
  for (const Arithmetic &arithmetic : {Arithmetic(), bytesOfHost()}) {
    benchHeads(report, 128, arithmetic);
    benchHeads(report, 197, arithmetic);
    benchHeads(report, 512, arithmetic);
    report.total("products of heads");
  }
}

/// Attention of 12 heads of 64 elements, which lie behind the rows.
void benchAttention(Report &report, int64_t rows, bool isCausal = false) {
  std::string name = std::string("attention ") + (isCausal ? "causal " : "") +
                     "12x" + std::to_string(rows) + "x64";
  if (!report.wants(name))
    return;
  KernelRunner runner;
  const int64_t heads = 12, size = 64;
  AttentionShape shape;
  shape.rows = shape.keys = rows;
  shape.depth = shape.width = size;
  shape.queryRow = shape.keyRow = shape.valueRow = shape.resultRow =
      heads * size;
  shape.scale = 0.125;
  shape.isCausal = isCausal;
  shape.heads = {{heads, 1, size, size, size, 0, size}};
  Attention attention(shape, runner.target(),
                      Float32Type::get(&runner.context()));
  Floats query(heads * rows * size), key(heads * rows * size);
  Floats value(heads * rows * size), result(heads * rows * size);
  Floats scratch(attention.scratchElements());
  MLIRContext &context = runner.context();
  KernelBuffer buffers[] = {{flatType(query, context)},
                            {flatType(key, context)},
                            {flatType(value, context)},
                            {flatType(result, context), true},
                            {flatType(scratch, context), true}};
  createKernel(runner.module(), UnknownLoc::get(&context), "kernel", buffers,
               [&](OpBuilder &builder, Location loc, Value task, ValueRange m) {
                 attention.build(builder, loc, task,
                                 {m[0], m[1], m[2], Value(), m[3], m[4]},
                                 [](OpBuilder &inner, Location at, Value x) {
                                   KernelBuilder code(inner, at);
                                   return emitExp(code, x);
                                 });
               });
  report.measure(name, runner, {attention.tasks()}, attention.flops(),
                 {&query, &key, &value, &result, &scratch});
}

void benchAttentions(Report &report) {
  for (int64_t rows : {64, 128, 197, 512, 1024, 2048})
    benchAttention(report, rows);
  benchAttention(report, 1024, /*isCausal=*/true);
  report.total("all attention");
}

/// One layer of ResNet-50: how often it occurs, channels, size of the input,
/// kernel, stride.
struct Layer {
  int64_t count, inputs, outputs, size, kernel, stride;
};
constexpr Layer resnet50[] = {
    {1, 3, 64, 224, 7, 2},     {1, 64, 64, 56, 1, 1},
    {3, 64, 64, 56, 3, 1},     {4, 64, 256, 56, 1, 1},
    {2, 256, 64, 56, 1, 1},    {1, 256, 128, 56, 1, 1},
    {1, 128, 128, 56, 3, 2},   {4, 128, 512, 28, 1, 1},
    {1, 256, 512, 56, 1, 2},   {3, 512, 128, 28, 1, 1},
    {3, 128, 128, 28, 3, 1},   {1, 512, 256, 28, 1, 1},
    {1, 256, 256, 28, 3, 2},   {6, 256, 1024, 14, 1, 1},
    {1, 512, 1024, 28, 1, 2},  {5, 1024, 256, 14, 1, 1},
    {5, 256, 256, 14, 3, 1},   {1, 1024, 512, 14, 1, 1},
    {1, 512, 512, 14, 3, 2},   {3, 512, 2048, 7, 1, 1},
    {1, 1024, 2048, 14, 1, 2}, {2, 2048, 512, 7, 1, 1},
    {2, 512, 512, 7, 3, 1}};

ConvolutionShape shapeOf(const Layer &layer) {
  ConvolutionShape shape;
  shape.inputChannels = layer.inputs;
  shape.outputChannels = layer.outputs;
  shape.inputHeight = shape.inputWidth = layer.size;
  shape.kernelHeight = shape.kernelWidth = layer.kernel;
  shape.strideHeight = shape.strideWidth = layer.stride;
  shape.hasPlanarInput = layer.inputs == 3;
  shape.setPadding(layer.kernel / 2, layer.kernel / 2);
  return shape;
}

std::string nameOf(const char *what, const Layer &layer) {
  return std::string(what) + " " + std::to_string(layer.inputs) + "->" +
         std::to_string(layer.outputs) + " " + std::to_string(layer.kernel) +
         "x" + std::to_string(layer.kernel) + "/" +
         std::to_string(layer.stride) + " at " + std::to_string(layer.size);
}

int64_t blocked(int64_t channels, const Target &target) {
  return (channels + target.f32Lanes - 1) / target.f32Lanes * target.f32Lanes;
}

void benchConvolution(Report &report, const Layer &layer,
                      const Arithmetic &arithmetic = {},
                      const Activation &activation = none) {
  std::string name =
      prefixOf(arithmetic) + nameOf("conv", layer) + activation.name;
  if (!report.wants(name))
    return;
  KernelRunner runner;
  ConvolutionShape shape = shapeOf(layer);
  if (isByte(arithmetic.lhs)) {
    shape.hasPlanarInput = false;
    shape.zeroPoint = 3;
  }
  Convolution convolution(shape, runner.target(), arithmetic);
  Floats input(floatsOf(
      (shape.hasPlanarInput ? shape.inputChannels
                            : blocked(shape.inputChannels, runner.target())) *
          shape.inputHeight.value() * shape.inputWidth.value(),
      arithmetic.lhs));
  Floats weights(floatsOf(convolution.packedElements(), arithmetic.rhs));
  Floats output(blocked(shape.outputChannels, runner.target()) *
                shape.outputHeight.value() * shape.outputWidth.value());
  MLIRContext &context = runner.context();
  KernelBuffer buffers[] = {
      {flatType(input, arithmetic.lhs, context)},
      {flatType(weights, arithmetic.rhs, context)},
      {flatType(output, arithmetic.accumulator, context), true}};
  const auto epilogue = epilogueOf<BlockedEpilogue>(activation);
  createKernel(
      runner.module(), UnknownLoc::get(&context), "kernel", buffers,
      [&](OpBuilder &builder, Location loc, Value task, ValueRange memrefs) {
        convolution.build(builder, loc, task, memrefs[0], memrefs[1],
                          memrefs[2], epilogue);
      });
  report.measure(name, runner, {convolution.tasks()}, shape.flops(),
                 {&input, &weights, &output}, layer.count, isHalf(arithmetic));
}

void benchWinograd(Report &report, const Winograd::Form &form,
                   const Layer &layer, const Arithmetic &given = {}) {
  std::string name = prefixOf(given) + nameOf(form.kernel.data(), layer);
  if (!report.wants(name))
    return;
  KernelRunner runner;
  ConvolutionShape shape = shapeOf(layer);
  if (isByte(given.lhs))
    shape.zeroPoint = 3;
  Winograd winograd(
      shape, runner.target(), std::nullopt,
      *WinogradArithmetic::of(given, runner.target(), form.outputRows));
  Floats input(floatsOf(blocked(shape.inputChannels, runner.target()) *
                            shape.inputPixels().value(),
                        given.lhs));
  Floats weights(floatsOf(winograd.packedElements(), given.rhs));
  Floats output(blocked(shape.outputChannels, runner.target()) *
                shape.outputPixels().value());
  Floats workspace(winograd.workspaceElements());
  MLIRContext &context = runner.context();
  KernelBuffer buffers[] = {
      {flatType(input, given.lhs, context)},
      {flatType(weights, given.rhs, context)},
      {flatType(workspace, winograd.workspaceType(), context), true},
      {flatType(output, given.accumulator, context), true}};
  std::vector<int64_t> tasks;
  for (int64_t stage = 0; stage < winograd.stages(); ++stage) {
    tasks.push_back(winograd.tasks(stage));
    std::string kernel =
        winograd.stages() == 1 ? "kernel" : "kernel" + std::to_string(stage);
    createKernel(
        runner.module(), UnknownLoc::get(&context), kernel, buffers,
        [&](OpBuilder &builder, Location loc, Value task, ValueRange m) {
          winograd.build(stage, builder, loc, task, {m[0], m[1], m[2], m[3]},
                         nullptr);
        });
  }
  const Alternatives estimates =
      alternativesFor(shape, given, runner.target(), true);
  char gain[48];
  std::snprintf(gain, sizeof(gain), ", estimate %.3f ms",
                llvm::find_if(
                    estimates,
                    [&](const Alternative &each) {
                      return each.kernel == form.kernel;
                    })->seconds *
                    1e3);
  // One round; others take the same time.
  report.measure(name + gain, runner, tasks, shape.flops() / winograd.rounds(),
                 {&input, &weights, &workspace, &output}, layer.count);
}

void benchConvolutions(Report &report) {
  for (const Layer &layer : resnet50)
    benchConvolution(report, layer);
  report.total("ResNet-50, each layer as often as it occurs");
  for (const Layer &layer : resnet50)
    benchConvolution(report, layer, bytesOfHost());
  report.total("The same of bytes");
  for (const Arithmetic &arithmetic : halves) {
    for (const Layer &layer : resnet50)
      benchConvolution(report, layer, arithmetic);
    report.total("The same of half precision");
  }
  for (ElementType type : {ElementType::I8, ElementType::I4}) {
    const Arithmetic arithmetic = Arithmetic::ofNarrow(
        ElementType::F32, type, ElementType::F32, *Target::host());
    for (const Layer &layer : resnet50)
      if (layer.inputs > 3)
        benchConvolution(report, layer, arithmetic);
    report.total("The same by weights of few bits");
  }
  constexpr Layer vgg[] = {{1, 3, 64, 224, 3, 1},   {1, 64, 64, 224, 3, 1},
                           {1, 64, 128, 112, 3, 1}, {1, 128, 128, 112, 3, 1},
                           {1, 256, 256, 56, 3, 1}, {1, 512, 512, 28, 3, 1}};
  for (const Layer &layer : vgg)
    benchConvolution(report, layer);
  report.total("VGG-16, some layers");
  constexpr Layer windows[] = {
      {1, 64, 64, 56, 3, 1},    {1, 128, 128, 28, 3, 1},
      {1, 256, 256, 14, 3, 1},  {1, 512, 512, 7, 3, 1},
      {1, 64, 64, 224, 3, 1},   {1, 64, 128, 112, 3, 1},
      {1, 128, 128, 112, 3, 1}, {1, 256, 256, 56, 3, 1},
      {1, 512, 512, 28, 3, 1}};
  for (const Winograd::Form &form : Winograd::forms()) {
    for (const Layer &layer : windows)
      benchWinograd(report, form, layer);
    report.total("Fast convolutions");
    for (const Layer &layer : windows)
      benchWinograd(report, form, layer, bytesOfHost());
    report.total("The same of bytes");
  }
  for (const Layer &layer : windows)
    benchConvolution(report, layer, bytesOfHost());
  report.total("The same directly");
}

void benchDepthwise(Report &report, const Layer &layer) {
  std::string name = nameOf("depthwise", layer);
  if (!report.wants(name))
    return;
  KernelRunner runner;
  ChannelwiseShape shape;
  shape.channels = layer.inputs;
  shape.inputHeight = shape.inputWidth = layer.size;
  shape.kernelHeight = shape.kernelWidth = layer.kernel;
  shape.strideHeight = shape.strideWidth = layer.stride;
  shape.setPadding(layer.kernel / 2, layer.kernel / 2);
  Depthwise depthwise(shape, runner.target());
  int64_t channels = blocked(shape.channels, runner.target());
  Floats input(channels * shape.inputPixels().value());
  Floats weights(depthwise.packedElements());
  Floats output(channels * shape.outputPixels().value());
  MLIRContext &context = runner.context();
  KernelBuffer buffers[] = {{flatType(input, context)},
                            {flatType(weights, context)},
                            {flatType(output, context), true}};
  createKernel(
      runner.module(), UnknownLoc::get(&context), "kernel", buffers,
      [&](OpBuilder &builder, Location loc, Value task, ValueRange memrefs) {
        depthwise.build(builder, loc, task, memrefs[0], memrefs[1], memrefs[2],
                        nullptr);
      });
  report.measure(name, runner, {depthwise.tasks()}, depthwise.flops(),
                 {&input, &weights, &output}, layer.count);
}

void benchDepthwises(Report &report) {
  constexpr Layer mobilenet[] = {
      {1, 32, 32, 112, 3, 1},  {1, 96, 96, 112, 3, 2},  {1, 144, 144, 56, 3, 1},
      {1, 144, 144, 56, 3, 2}, {2, 192, 192, 28, 3, 1}, {1, 192, 192, 28, 3, 2},
      {4, 384, 384, 14, 3, 1}, {2, 576, 576, 14, 3, 1}, {1, 576, 576, 14, 3, 2},
      {3, 960, 960, 7, 3, 1}};
  for (const Layer &layer : mobilenet)
    benchDepthwise(report, layer);
  report.total("MobileNetV2, all depthwise layers");
  constexpr Layer pointwise[] = {
      {1, 3, 32, 224, 3, 2},  {1, 32, 16, 112, 1, 1}, {1, 16, 96, 112, 1, 1},
      {1, 96, 24, 56, 1, 1},  {2, 24, 144, 56, 1, 1}, {1, 144, 24, 56, 1, 1},
      {1, 144, 32, 28, 1, 1}, {3, 32, 192, 28, 1, 1}, {2, 192, 32, 28, 1, 1},
      {1, 192, 64, 14, 1, 1}, {4, 64, 384, 14, 1, 1}, {3, 384, 64, 14, 1, 1},
      {1, 384, 96, 14, 1, 1}, {3, 96, 576, 14, 1, 1}, {2, 576, 96, 14, 1, 1},
      {1, 576, 160, 7, 1, 1}, {3, 160, 960, 7, 1, 1}, {2, 960, 160, 7, 1, 1},
      {1, 960, 320, 7, 1, 1}, {1, 320, 1280, 7, 1, 1}};
  for (const Layer &layer : pointwise)
    benchConvolution(report, layer);
  report.total("MobileNetV2, all other convolutions");
}

/// Products and convolutions with little to sum up, by what becomes of their
/// results.
void benchActivations(Report &report) {
  MatMulShape product = MatMulShape::dense(128, 3072, 768);
  product.holdsSums = true;
  const Layer pointwise = {1, 16, 96, 112, 1, 1};
  benchConvolution(report, pointwise);
  for (const Activation &activation : activations)
    benchConvolution(report, pointwise, {}, activation);
  benchMatMul(report, "packed", product);
  for (const Activation &activation : activations)
    benchMatMul(report, "packed", product, 1, {}, activation);
  report.total("activations");
}

/// A loop over elements that stay in the second-level cache.
void benchFunction(Report &report, const Activation &function) {
  std::string name = std::string("loop of ") + function.name;
  if (!report.wants(name))
    return;
  KernelRunner runner;
  Floats x(1 << 16), y(1 << 16);
  MLIRContext &context = runner.context();
  KernelBuffer buffers[] = {{flatType(x, context)},
                            {flatType(y, context), true}};
  createKernel(
      runner.module(), UnknownLoc::get(&context), "kernel", buffers,
      [&](OpBuilder &builder, Location loc, Value, ValueRange memrefs) {
        KernelBuilder code(builder, loc);
        code.loop(code.index(0), code.index(x.size()), 1, [&](Value i) {
          Value element = code.create<memref::LoadOp>(memrefs[0], i);
          code.create<memref::StoreOp>(function.emit(code, element), memrefs[1],
                                       i);
        });
      });
  report.measure(name, runner, {1}, double(x.size()), {&x, &y});
}

void benchFunctions(Report &report) {
  constexpr Activation functions[] = {
      {"clamp", emitClamp},       {"exp", emitExp},
      {"expm1", emitExpm1},       {"log", emitLog},
      {"log1p", emitLog1p},       {"tanh", emitTanh},
      {"erf", emitErf},           {"erfc", emitErfc},
      {"logistic", emitLogistic}, {"SiLU", emitSilu},
      {"GELU", emitGelu},         {"GELU (tanh)", emitTanhGelu}};
  for (const Activation &function : functions)
    benchFunction(report, function);
  report.total("functions, an element instead of a FLOP");
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  if (argc > 1)
    options.filter = argv[1];
  if (argc > 2)
    options.seconds = std::stod(argv[2]);
  Report report(options);
  benchMatMuls(report);
  benchNarrows(report);
  benchAttentions(report);
  benchConvolutions(report);
  benchDepthwises(report);
  benchActivations(report);
  benchFunctions(report);
  return 0;
}
