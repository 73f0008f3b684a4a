//===- ConvolutionKernel.cpp - kernels of blocked convolutions ------------===//

#include "backend/cpu/emit/ConvolutionKernel.h"

#include "backend/cpu/emit/BlockedKernel.h"
#include "backend/cpu/emit/TileStages.h"
#include "backend/cpu/kernels/amx/TileConvolution.h"
#include "backend/cpu/kernels/conv/Channelwise.h"
#include "backend/cpu/kernels/conv/Winograd.h"
#include "backend/cpu/precision/MarkAmplified.h"
#include "backend/cpu/precision/SetPrecisions.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

ConvolutionShape cpu::convolutionShape(cpu::ConvolutionOp op) {
  ArrayRef<int64_t> kernel = op.kernelShape();
  ConvolutionShape shape;
  setWindow(shape, op);
  shape.kernelHeight = kernel[2];
  shape.kernelWidth = kernel[3];
  shape.groups = op.getGroups();
  shape.inputChannels = kernel[1] * shape.groups;
  shape.outputChannels = kernel[0];
  shape.hasPlanarInput = op.hasPlanarInput();
  shape.zeroPoint = op.getZeroPoint();
  shape.hasZeroInMemory = op.getZero() != nullptr;
  if (const auto area = op.getEstimatedArea()) {
    shape.estimatedHeight = (*area)[0];
    shape.estimatedWidth = (*area)[1];
  }
  return shape;
}

ConvolutionShape cpu::nominalShape(cpu::ConvolutionOp op) {
  ConvolutionShape shape = convolutionShape(op);
  static_cast<WindowShape &>(shape) = shape.nominal();
  return shape;
}

/// What tiles may multiply for \p op, whose weights they want to pack and which
/// may become \p weights.
static std::vector<TileArithmetic>
tilesFor(cpu::ConvolutionOp op, const Arithmetic &arithmetic,
         std::optional<ElementType> weights = {}) {
  if (op.getPackedFrom())
    return {};
  return TileArithmetic::allOf(arithmetic.lhs, weights.value_or(arithmetic.rhs),
                               arithmetic.accumulator, termsPrecisionOf(op),
                               {operandTypeOf(op, 0), {}});
}

static Alternatives estimatesOf(cpu::ConvolutionOp op,
                                const Arithmetic &arithmetic,
                                const Target &target,
                                llvm::ArrayRef<TileArithmetic> tiles) {
  return alternativesFor(nominalShape(op), arithmetic, target, op.getFast(),
                         tiles);
}

llvm::StringRef cpu::kernelOf(cpu::ConvolutionOp op, const Target &target,
                              std::optional<ElementType> onTiles) {
  const Arithmetic arithmetic =
      Arithmetic::of(op.getInput(), op.getWeights(), op.getResult(), target);
  return estimatesOf(op, arithmetic, target, tilesFor(op, arithmetic, onTiles))
      .front()
      .kernel;
}

bool cpu::readsLowBitWeights(llvm::StringRef kernel) {
  return kernel == "direct" || usesTiles(kernel);
}

namespace {

class ConvolutionKernel : public BlockedKernel {
public:
  ConvolutionKernel(KernelOp kernel, cpu::ConvolutionOp op,
                    const Target &target)
      : BlockedKernel(kernel, op, target), op(op),
        arithmetic(Arithmetic::of(op.getInput(), op.getWeights(),
                                  op.getResult(), target)) {
    ConvolutionShape shape = convolutionShape(op);
    const int64_t groupInputs = shape.inputChannels / shape.groups;
    flops = 2.0 * double(shape.outputChannels) * double(groupInputs) *
            double(shape.taps());
    // Images are units where their number or size is not known.
    const bool areUnits = images().isDynamic() || shape.hasDynamicArea();
    ConvolutionShape ofAll = shape;
    if (!areUnits)
      ofAll.batch = images().value();
    const std::vector<TileArithmetic> ofTiles = tilesFor(op, arithmetic);
    estimated = estimatesOf(op, arithmetic, target, ofTiles);
    const StringRef chosen = estimated.front().kernel;
    if (const Winograd::Form *form = Winograd::formOf(chosen)) {
      fast.emplace(
          ofAll, target, areUnits ? std::optional(images()) : std::nullopt,
          *WinogradArithmetic::of(arithmetic, target, form->outputRows));
    } else if (usesTiles(chosen)) {
      tiles.emplace(ofAll, target, tilesNamed(chosen, ofTiles),
                    partsOf(kernel, op, /*areBlocked=*/true), areUnits);
    } else if (chosen == "direct") {
      direct.emplace(shape, target, arithmetic);
    } else {
      ChannelwiseShape channels;
      static_cast<WindowShape &>(channels) = shape;
      channels.channels = shape.outputChannels;
      depthwise.emplace(channels, target, arithmetic);
    }
  }

  KernelPlan planRoot() const override {
    KernelPlan plan;
    plan.alternatives = estimated;
    plan.sharing = sharing();
    auto usePacking = [&](uint64_t bytes, const auto &generator) {
      if (op.getPackedFrom())
        return;
      plan.packings[inputIndex(op.getWeights())] = {
          bytes, [generator](const Tensor &weights, std::byte *packed) {
            generator.pack(weights.data(), packed);
          }};
    };
    plan.name = estimated.front().kernel;
    if (tiles) {
      plan.work = workOf(tiles->taskExtents(), flops);
      planTiles(plan, *tiles);
      usePacking(uint64_t(tiles->packedBytes()), *tiles);
    } else if (depthwise) {
      plan.work = workOf(depthwise->taskExtents(), flops);
      usePacking(bytesOf(*depthwise), *depthwise);
    } else if (direct) {
      plan.work = workOf(direct->taskExtents(), flops);
      usePacking(bytesOf(*direct), *direct);
    } else {
      usePacking(bytesOf(*fast), *fast);
      planFast(plan);
    }
    return plan;
  }

  TileTermsOf possibleTerms() const override {
    return possibleTermsOf(tiles, yielded());
  }
  TileTermsGain gainBy(const TileTerms &operand,
                       const Target &target) const override {
    return tiles->gainBy(operand, target);
  }

protected:
  void emitTask(size_t stage, OpBuilder &builder, Location location, Value task,
                ValueRange memory) const override {
    Value input = memory[inputIndex(op.getInput())];
    Value weights = memory[inputIndex(op.getWeights())];
    const size_t inputs = kernel.getInputs().size();
    Value output = memory[inputs];
    // Where there is one; a table of sizes may stand behind it.
    Value scratch = memory.size() > inputs + 1 ? memory[inputs + 1] : Value();
    Value zero = op.getZero() ? memory[inputIndex(op.getZero())] : Value();
    if (tiles && isCutStage(*tiles, stage))
      tiles->buildCut(builder, location, task, input, scratch, zero);
    else if (tiles)
      tiles->build(builder, location, task, input, weights, output, scratch,
                   epilogue(memory), zero);
    else if (fast)
      fast->build(stage, builder, location, task,
                  {input, weights, scratch, output, zero}, epilogue(memory));
    else if (depthwise)
      depthwise->build(builder, location, task, input, weights, output,
                       epilogue(memory), zero);
    else
      direct->build(builder, location, task, input, weights, output,
                    epilogue(memory), zero);
  }

private:
  /// Of packed weights.
  template <typename Generator>
  uint64_t bytesOf(const Generator &generator) const {
    return uint64_t(generator.packedElements() * arithmetic.rhsBytes());
  }

  void planFast(KernelPlan &plan) const {
    const ElementType type = fast->workspaceType();
    const uint64_t bytes = uint64_t(fast->workspaceElements()) * byteSize(type);
    if (fast->stages() == 1) {
      plan.work = workOf(fast->unitsOfImage(), flops);
      // Its units are of all images then.
      if (auto *loop = std::get_if<TaskLoop>(&plan.work))
        loop->tasks = fast->tasks(0);
      plan.scratch = {bytes, type};
    } else if (images().isDynamic() || convolutionShape(op).hasDynamicArea()) {
      plan.work = dynamicStages({bytes, type});
    } else {
      Stages all{{}, fast->rounds(), {bytes, type}};
      for (int64_t stage = 0; stage < fast->stages(); ++stage)
        all.stages.push_back(
            {fast->tasks(stage), fast->flops(stage) / double(all.rounds)});
      plan.work = std::move(all);
    }
  }

  /// What comes before the epilogue is the same in many layers.
  DynamicStages dynamicStages(Workspace ofUnit) const {
    DynamicStages all{{}, {{{images()}, 1}}, fast->unitsOfRound(), ofUnit};
    llvm::append_range(all.units, fast->unitsOfImage());
    for (int64_t stage = 0; stage < fast->stages(); ++stage)
      all.stages.push_back({fast->tasks(stage), fast->flops(stage)});
    const unsigned input = inputIndex(op.getInput()),
                   weights = inputIndex(op.getWeights()),
                   workspace = unsigned(kernel.getInputs().size()) + 1;
    all.stages[0].buffers = {input, workspace};
    all.stages[1].buffers = {weights, workspace};
    // What stands behind the weights counts distances from a zero point.
    const bool readsWeights = convolutionShape(op).countsDistances();
    if (op.getZero())
      all.stages[0].buffers.push_back(inputIndex(op.getZero()));
    for (unsigned buffer = 0; buffer <= workspace; ++buffer)
      if (buffer != input && (buffer != weights || readsWeights))
        all.stages[2].buffers.push_back(buffer);
    return all;
  }

  mutable cpu::ConvolutionOp op;
  Arithmetic arithmetic;
  double flops; ///< Of a pixel.
  Alternatives estimated;
  std::optional<Winograd> fast;
  std::optional<Convolution> direct;
  std::optional<Depthwise> depthwise;
  std::optional<TileConvolution> tiles;
};

} // namespace

std::unique_ptr<RootKernel> cpu::createConvolutionKernel(KernelOp kernel,
                                                         cpu::ConvolutionOp op,
                                                         const Target &target) {
  return std::make_unique<ConvolutionKernel>(kernel, op, target);
}
