#include "backend/cpu/emit/AnchorKernel.h"

#include "backend/cpu/codegen/KernelFunction.h"
#include "backend/cpu/emit/AttentionKernel.h"
#include "backend/cpu/emit/Elemental.h"
#include "backend/cpu/emit/MatMulForm.h"
#include "backend/cpu/kernels/Channelwise.h"
#include "backend/cpu/kernels/Winograd.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// A product with a generator: f32 or f64, in matrix form.
static bool isMatMul(stablehlo::DotGeneralOp op) {
  Type element = tensorOf(op.getLhs()).getElementType();
  return (element.isF32() || element.isF64()) &&
         tensorOf(op.getRhs()).getElementType() == element &&
         tensorOf(op.getResult()).getElementType() == element &&
         MatMulForm::of(op, /*hasConstantRhs=*/false).has_value();
}

bool cpu::isAnchor(Operation *op) {
  if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op))
    return isMatMul(dot);
  return isa<cpu::ConvolutionOp, PoolOp, cpu::AttentionOp>(op);
}

bool cpu::takesEpilogue(Operation *op) {
  auto dot = dyn_cast<stablehlo::DotGeneralOp>(op);
  if (!dot)
    return isAnchor(op) && !isa<cpu::AttentionOp>(op);
  // Neighbouring columns must be neighbours in the last dimension.
  auto numbers = dot.getDotDimensionNumbers();
  int64_t columns = tensorOf(dot.getRhs()).getRank() -
                    numbers.getRhsBatchingDimensions().size() -
                    numbers.getRhsContractingDimensions().size();
  return isMatMul(dot) && columns == 1;
}

//===----------------------------------------------------------------------===//
// What all anchors share
//===----------------------------------------------------------------------===//

Value AnchorKernel::yielded() const {
  return cast<YieldOp>(kernel.getBody().front().getTerminator()).getValues()[0];
}

unsigned AnchorKernel::inputIndex(Value operand) const {
  return cast<BlockArgument>(operand).getArgNumber();
}

bool AnchorKernel::isConstantInput(Value operand) const {
  auto constants =
      kernel->getAttrOfType<DenseI64ArrayAttr>(constantInputsAttribute);
  return constants && llvm::is_contained(constants.asArrayRef(),
                                         int64_t(inputIndex(operand)));
}

Value AnchorKernel::epilogueAt(
    OpBuilder &builder, Location location, Value vector, Value offset,
    llvm::function_ref<SmallVector<Value>(Emission &)> placeOf,
    ValueRange memory) const {
  if (!hasEpilogue())
    return vector;
  int64_t lanes = cast<VectorType>(vector.getType()).getNumElements();
  Emission emission(builder, location);
  Elemental elemental(emission, lanes);
  Coordinates place;
  for (Value index : placeOf(emission))
    place.push_back(index);
  place.back().lanes = true;

  RankedTensorType resultType = tensorOf(anchor->getResult(0));
  auto isHere = [place](ArrayRef<Coordinate> other) {
    return llvm::equal(place, other, [](const auto &a, const auto &b) {
      return a.value == b.value && a.lanes == b.lanes;
    });
  };
  for (auto [argument, buffer] :
       llvm::zip(kernel.getBody().front().getArguments(), memory)) {
    elemental.bindMemory(argument, buffer);
    if (tensorOf(argument).getShape() != resultType.getShape())
      continue;
    // What lies as the result does is read without taking the place apart.
    auto other = std::make_shared<Elemental>(emission, lanes);
    other->bindMemory(argument, buffer);
    elemental.bind(argument, [=, &elemental, argument = argument,
                              buffer = buffer](ArrayRef<Coordinate> at) {
      if (!isHere(at))
        return other->at(argument, at);
      return elemental.load(buffer, offset, tensorOf(argument).getElementType(),
                            /*asVector=*/true);
    });
  }
  elemental.bind(anchor->getResult(0),
                 [vector](ArrayRef<Coordinate>) { return vector; });
  return elemental.splat(elemental.at(yielded(), place));
}

std::vector<KernelContract> AnchorKernel::emit(ModuleOp module,
                                               StringRef name) const {
  Block &body = kernel.getBody().front();
  SmallVector<KernelBuffer> buffers;
  auto add = [&](int64_t elements, Type element, bool isWritten) {
    KernelBuffer buffer;
    buffer.type = MemRefType::get({elements}, storageType(element));
    buffer.isWritten = isWritten;
    buffers.push_back(buffer);
  };
  KernelPlan wanted = plan();
  for (auto [argument, packing] :
       llvm::zip(body.getArguments(), wanted.packings)) {
    Type element = tensorOf(argument).getElementType();
    int64_t elements = tensorOf(argument).getNumElements();
    if (packing)
      elements = packing->bytes * 8 / element.getIntOrFloatBitWidth();
    add(elements, element, false);
  }
  RankedTensorType result = tensorOf(yielded());
  add(result.getNumElements(), result.getElementType(), true);
  if (uint64_t bytes = wanted.scratchBytes + wanted.workspaceBytes) {
    Type element = tensorOf(anchor->getResult(0)).getElementType();
    add(bytes * 8 / element.getIntOrFloatBitWidth(), element, true);
  }
  size_t stages = std::max<size_t>(1, wanted.stages.size());
  std::vector<KernelContract> contracts;
  for (size_t stage = 0; stage < stages; ++stage) {
    contracts.push_back(
        createKernel(module, UnknownLoc::get(module.getContext()),
                     stageName(name, stage), buffers,
                     [&](OpBuilder &builder, Location location, Value task,
                         ValueRange memory) {
                       emitTask(stage, builder, location, task, memory);
                     }));
    contracts.back().tasks = wanted.stages.empty()
                                 ? wanted.tasks
                                 : wanted.rounds * wanted.stages[stage].tasks;
  }
  return contracts;
}

//===----------------------------------------------------------------------===//
// Windows on blocks of channels
//===----------------------------------------------------------------------===//

template <typename Op> static void setWindow(WindowShape &window, Op op) {
  ArrayRef<int64_t> input = tensorOf(op.getInput()).getShape();
  ArrayRef<int64_t> output = tensorOf(op.getResult()).getShape();
  window.inputHeight = input[2];
  window.inputWidth = input[3];
  window.outputHeight = output[2];
  window.outputWidth = output[3];
  window.strideHeight = op.getStrides()[0];
  window.strideWidth = op.getStrides()[1];
  window.dilationHeight = op.getDilations()[0];
  window.dilationWidth = op.getDilations()[1];
  window.padTop = op.getPaddingLow()[0];
  window.padLeft = op.getPaddingLow()[1];
}

ConvolutionShape cpu::convolutionShape(cpu::ConvolutionOp op) {
  ArrayRef<int64_t> kernel = op.kernelShape();
  ConvolutionShape shape;
  setWindow(shape, op);
  shape.batch = tensorOf(op.getInput()).getDimSize(0);
  shape.kernelHeight = kernel[2];
  shape.kernelWidth = kernel[3];
  shape.groups = op.getGroups();
  shape.inputChannels = kernel[1] * shape.groups;
  shape.outputChannels = kernel[0];
  shape.hasPlanarInput = op.hasPlanarInput();
  return shape;
}

namespace {

/// An anchor whose result is blocked by channel.
class BlockedKernel : public AnchorKernel {
protected:
  using AnchorKernel::AnchorKernel;

  BlockedEpilogue epilogue(ValueRange memory) const {
    if (!hasEpilogue())
      return {};
    int64_t width = tensorOf(anchor->getResult(0)).getDimSize(3);
    return [this, memory, width](OpBuilder &builder, Location location,
                                 Value vector, const BlockedPosition &at) {
      return epilogueAt(
          builder, location, vector, at.offset,
          [&](Emission &e) -> SmallVector<Value> {
            return {at.batch, at.block, e.div(at.pixel, width),
                    e.rem(at.pixel, width), e.index(0)};
          },
          memory);
    };
  }
};

class ConvolutionKernel : public BlockedKernel {
public:
  ConvolutionKernel(KernelOp kernel, cpu::ConvolutionOp op,
                    const Target &target)
      : BlockedKernel(kernel, op), op(op) {
    ConvolutionShape shape = convolutionShape(op);
    flops = shape.flops();
    if (!op.isDepthwise()) {
      if (op.getFast() && Winograd::supports(shape) &&
          Winograd::estimateGain(shape, target) > leastGain)
        fast.emplace(shape, target);
      else
        direct.emplace(shape, target);
      return;
    }
    ChannelwiseShape channels;
    static_cast<WindowShape &>(channels) = shape;
    channels.batch = shape.batch;
    channels.channels = shape.outputChannels;
    depthwise.emplace(channels, target);
  }

  KernelPlan plan() const override {
    KernelPlan plan;
    plan.flops = flops;
    plan.packings.resize(kernel.getInputs().size());
    auto usePacking = [&](const auto &generator) {
      if (op.getPackedFrom())
        return;
      plan.packings[inputIndex(op.getWeights())] = {
          uint64_t(generator.packedElements()) * 4,
          [generator](const Tensor &weights, std::byte *packed) {
            generator.pack(weights.data(), reinterpret_cast<float *>(packed));
          }};
    };
    if (depthwise) {
      plan.name = "depthwise";
      plan.tasks = depthwise->tasks();
      usePacking(*depthwise);
    } else if (direct) {
      plan.name = "direct";
      plan.tasks = direct->tasks();
      usePacking(*direct);
    } else {
      plan.name = "winograd";
      usePacking(*fast);
      planStages(plan);
    }
    return plan;
  }

protected:
  void emitTask(size_t stage, OpBuilder &builder, Location location, Value task,
                ValueRange memory) const override {
    Value input = memory[inputIndex(op.getInput())];
    Value weights = memory[inputIndex(op.getWeights())];
    Value output = memory[kernel.getInputs().size()];
    if (fast)
      fast->build(stage, builder, location, task,
                  {input, weights, memory.back(), output}, epilogue(memory));
    else if (depthwise)
      depthwise->build(builder, location, task, input, weights, output,
                       epilogue(memory));
    else
      direct->build(builder, location, task, input, weights, output,
                    epilogue(memory));
  }

private:
  /// Below this, what the estimate leaves out eats up the gain.
  static constexpr double leastGain = 1.2;

  void planStages(KernelPlan &plan) const {
    uint64_t bytes = uint64_t(fast->workspaceElements()) * 4;
    if (fast->stages() == 1) {
      plan.tasks = fast->tasks(0);
      plan.scratchBytes = bytes;
      return;
    }
    plan.workspaceBytes = bytes;
    plan.rounds = fast->rounds();
    for (int64_t stage = 0; stage < fast->stages(); ++stage)
      plan.stages.push_back(
          {fast->tasks(stage), fast->flops(stage) / plan.rounds});
  }

  mutable cpu::ConvolutionOp op;
  double flops;
  std::optional<Winograd> fast;
  std::optional<Convolution> direct;
  std::optional<Depthwise> depthwise;
};

class PoolKernel : public BlockedKernel {
public:
  PoolKernel(KernelOp kernel, PoolOp op, const Target &target)
      : BlockedKernel(kernel, op), op(op) {
    RankedTensorType input = tensorOf(op.getInput());
    ChannelwiseShape shape;
    setWindow(shape, op);
    shape.batch = input.getDimSize(0);
    shape.channels = input.getDimSize(1) * input.getDimSize(4);
    shape.kernelHeight = op.getWindow()[0];
    shape.kernelWidth = op.getWindow()[1];
    flops = double(tensorOf(op.getResult()).getNumElements()) * shape.taps();
    auto kind = llvm::StringSwitch<Pooling::Kind>(op.getKind())
                    .Case("max", Pooling::Kind::Maximum)
                    .Case("average_window", Pooling::Kind::AverageOfWindow)
                    .Default(Pooling::Kind::AverageOfPresent);
    pooling.emplace(kind, shape, target);
  }

  KernelPlan plan() const override {
    KernelPlan plan;
    plan.name = "pool";
    plan.flops = flops;
    plan.tasks = pooling->tasks();
    plan.packings.resize(kernel.getInputs().size());
    return plan;
  }

protected:
  void emitTask(size_t stage, OpBuilder &builder, Location location, Value task,
                ValueRange memory) const override {
    pooling->build(builder, location, task, memory[inputIndex(op.getInput())],
                   memory[kernel.getInputs().size()], epilogue(memory));
  }

private:
  mutable PoolOp op;
  double flops;
  std::optional<Pooling> pooling;
};

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

class MatMulKernel : public AnchorKernel {
public:
  MatMulKernel(KernelOp kernel, stablehlo::DotGeneralOp op,
               const Target &target)
      : AnchorKernel(kernel, op), op(op),
        form(*MatMulForm::of(op, isConstantInput(op.getRhs()))),
        product(shapeOfProduct(), target,
                tensorOf(op.getLhs()).getElementType()) {}

  KernelPlan plan() const override {
    KernelPlan plan;
    plan.flops = product.flops();
    plan.tasks = product.tasks();
    plan.packings.resize(kernel.getInputs().size());
    int64_t bytes =
        tensorOf(op.getLhs()).getElementType().getIntOrFloatBitWidth() / 8;
    plan.scratchBytes = product.scratchElements() * bytes;
    plan.name = "matmul";
    if (form.shape.bLayout != MatMulShape::BLayout::Packed)
      return plan;
    plan.name = "matmul-packed";
    if (product.stages() > 1)
      plan.stages.assign(product.stages(),
                         {product.tasks(), product.flops() / product.stages()});
    plan.packings[inputIndex(op.getRhs())] = {
        uint64_t(product.packedElements() * bytes),
        [form = form, product = product, bytes](const Tensor &weights,
                                                std::byte *packed) {
          product.pack(weights.data(), form.packedKStride, form.packedNStride,
                       bytes, packed);
        }};
    return plan;
  }

protected:
  void emitTask(size_t stage, OpBuilder &builder, Location location, Value task,
                ValueRange memory) const override {
    size_t inputs = kernel.getInputs().size();
    Value scratch = product.scratchElements() ? memory[inputs + 1] : Value();
    MatMulEpilogue epilogue;
    if (hasEpilogue())
      epilogue = [this, memory](OpBuilder &builder, Location location,
                                Value vector, const MatMulPosition &at) {
        return epilogueAt(
            builder, location, vector, at.offset,
            [&](Emission &e) { return placeOf(e, at); }, memory);
      };
    product.build(builder, location, task, memory[inputIndex(op.getLhs())],
                  memory[inputIndex(op.getRhs())], memory[inputs], scratch,
                  epilogue, nullptr, static_cast<int64_t>(stage));
  }

private:
  MatMulShape shapeOfProduct() const {
    MatMulShape shape = form.shape;
    shape.holdsSums = tensorOf(yielded()).getElementType() ==
                      tensorOf(op.getResult()).getElementType();
    return shape;
  }

  /// Batch, row and column as a place in the product's result.
  SmallVector<Value> placeOf(Emission &e, const MatMulPosition &at) const {
    ArrayRef<int64_t> shape = tensorOf(op.getResult()).getShape();
    size_t batches =
        op.getDotDimensionNumbers().getLhsBatchingDimensions().size();
    SmallVector<Value> place;
    size_t next = 0;
    for (size_t i = 0; i < batches; ++i)
      place.push_back(shape[i] > 1 ? at.batch[next++] : e.index(0));
    // The row number, taken apart from the last dimension on.
    SmallVector<Value> rows;
    Value rest = at.row;
    for (size_t i = shape.size() - 1; i-- > batches;) {
      bool isFirst = i == batches;
      rows.push_back(isFirst ? rest : e.rem(rest, shape[i]));
      rest = e.div(rest, shape[i]);
    }
    place.append(rows.rbegin(), rows.rend());
    place.push_back(at.column);
    return place;
  }

  mutable stablehlo::DotGeneralOp op;
  MatMulForm form;
  MatMul product;
};

} // namespace

std::unique_ptr<AnchorKernel> AnchorKernel::of(KernelOp kernel,
                                               const Target &target) {
  for (Operation &op : kernel.getBody().front()) {
    if (!isAnchor(&op))
      continue;
    if (auto convolution = dyn_cast<cpu::ConvolutionOp>(op))
      return std::make_unique<ConvolutionKernel>(kernel, convolution, target);
    if (auto pool = dyn_cast<PoolOp>(op))
      return std::make_unique<PoolKernel>(kernel, pool, target);
    if (auto attention = dyn_cast<cpu::AttentionOp>(op))
      return createAttentionKernel(kernel, attention, target);
    return std::make_unique<MatMulKernel>(
        kernel, cast<stablehlo::DotGeneralOp>(op), target);
  }
  return nullptr;
}
