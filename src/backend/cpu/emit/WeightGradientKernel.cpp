//===- WeightGradientKernel.cpp - kernels of gradients of weights ---------===//

#include "backend/cpu/emit/WeightGradientKernel.h"

#include "backend/cpu/emit/BlockedKernel.h"
#include "backend/cpu/kernels/conv/DepthwiseGradient.h"
#include "backend/cpu/kernels/conv/WeightGradient.h"
#include "graph/Types.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

/// A kernel by a generator that reads blocked inputs and gradients of images
/// whose number may be named.
template <typename Op, typename Generator>
class GradientKernel : public RootKernel {
public:
  GradientKernel(KernelOp kernel, Op op, const Target &target,
                 Generator generator, StringRef name)
      : RootKernel(kernel, op, target), op(op), generator(std::move(generator)),
        name(name) {}

  KernelPlan planRoot() const override {
    KernelPlan plan;
    plan.name = name;
    plan.work = work();
    return plan;
  }

protected:
  void emitTask(size_t, OpBuilder &builder, Location location, Value task,
                ValueRange memory) const override {
    generator.build(builder, location, task, memory[inputIndex(op.getInput())],
                    memory[inputIndex(op.getGradient())],
                    memory[kernel.getInputs().size()]);
  }

private:
  KernelWork work() const {
    ArrayRef<Dim> input = dimsOf(op.getInput()),
                  gradient = dimsOf(op.getGradient());
    // There is no code for images of dynamic size.
    if (hasNamedDim(input.drop_front()) || hasNamedDim(gradient.drop_front()))
      return TaskLoop();
    const Dim images = input[0];
    if (images.isStatic())
      return TaskLoop{generator.tasks(), generator.flops()};
    // Tasks and results are as many in each image, or each is of them all.
    ArrayRef<Dim> result = dimsOf(op.getResult());
    const bool isOfEach = result[0].isDynamic();
    const auto others = double(*elementCount(staticSizes(result.drop_front())));
    DynamicTaskLoop loop{{{{generator.tasks()}, 1}},
                         generator.flops() /
                             (others * double(result[0].valueOr(1))),
                         isOfEach ? Dim(1) : images};
    if (isOfEach)
      loop.tasks.push_back({{images}, 1});
    return loop;
  }

  mutable Op op;
  Generator generator;
  std::string name;
};

} // namespace

/// Sets what the operation says of the convolution; its window is \p taps.
template <typename Op>
static void setConvolution(WindowShape &window, Op op, ArrayRef<int64_t> taps) {
  setWindow(window, op, op.getGradient());
  window.kernelHeight = taps[0];
  window.kernelWidth = taps[1];
}

std::unique_ptr<RootKernel>
cpu::createWeightGradientKernel(KernelOp kernel, WeightGradientOp op,
                                const Target &target) {
  WeightGradientShape shape;
  setConvolution(shape, op, tensorOf(op.getResult()).getShape().slice(3, 2));
  shape.batch = dimsOf(op.getInput())[0];
  shape.inputs = static_cast<int64_t>(op.getInputChannels());
  shape.outputs = static_cast<int64_t>(op.getOutputChannels());
  return std::make_unique<GradientKernel<WeightGradientOp, WeightGradient>>(
      kernel, op, target, WeightGradient(shape, target), "weight gradient");
}

std::unique_ptr<RootKernel>
cpu::createDepthwiseGradientKernel(KernelOp kernel, DepthwiseGradientOp op,
                                   const Target &target) {
  ChannelwiseShape shape;
  setConvolution(shape, op, tensorOf(op.getResult()).getShape().slice(2, 2));
  ArrayRef<Dim> input = dimsOf(op.getInput());
  shape.batch = input[0];
  shape.channels = (input[1] * input[4]).value();
  return std::make_unique<
      GradientKernel<DepthwiseGradientOp, DepthwiseGradient>>(
      kernel, op, target, DepthwiseGradient(shape, target),
      "depthwise gradient");
}
