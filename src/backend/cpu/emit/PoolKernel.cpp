//===- PoolKernel.cpp - kernels of blocked pools --------------------------===//

#include "backend/cpu/emit/PoolKernel.h"

#include "backend/cpu/emit/BlockedKernel.h"
#include "backend/cpu/kernels/conv/Channelwise.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

class PoolKernel : public BlockedKernel {
public:
  PoolKernel(KernelOp kernel, PoolOp op, const Target &target)
      : BlockedKernel(kernel, op, target), op(op) {
    RankedTensorType input = tensorOf(op.getInput());
    ChannelwiseShape shape;
    setWindow(shape, op);
    shape.channels = input.getDimSize(1) * input.getDimSize(4);
    shape.kernelHeight = op.getWindow()[0];
    shape.kernelWidth = op.getWindow()[1];
    shape.zeroPoint = static_cast<int64_t>(op.getZeroPoint());
    flops = double(shape.channels) * double(shape.taps());
    auto kind = llvm::StringSwitch<Pooling::Kind>(op.getKind())
                    .Case("max", Pooling::Kind::Maximum)
                    .Case("average_window", Pooling::Kind::AverageOfWindow)
                    .Default(Pooling::Kind::AverageOfPresent);
    pooling.emplace(kind, shape, target,
                    *elementTypeOf(input.getElementType()));
  }

  KernelPlan planRoot() const override {
    KernelPlan plan;
    plan.name = "pool";
    plan.work = workOf(pooling->taskExtents(), flops);
    plan.sharing = sharing();
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
  double flops; ///< Of a pixel.
  std::optional<Pooling> pooling;
};

} // namespace

std::unique_ptr<RootKernel>
cpu::createPoolKernel(KernelOp kernel, cpu::PoolOp op, const Target &target) {
  return std::make_unique<PoolKernel>(kernel, op, target);
}
