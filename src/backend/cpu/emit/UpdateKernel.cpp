//===- UpdateKernel.cpp - a slice written over a tensor -------------------===//

#include "backend/cpu/emit/KernelBody.h"
#include "backend/cpu/emit/LoopNest.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

/// Writes the update over the operand.
class UpdateKernel : public KernelBody {
public:
  explicit UpdateKernel(KernelOp kernel)
      : op(kernel.getBody()
               .front()
               .getTerminator()
               ->getOperand(0)
               .getDefiningOp<stablehlo::DynamicUpdateSliceOp>()) {
    nest.shape = dimsOf(op.getUpdate()).vec();
    if (nest.shape.empty())
      nest.shape.push_back(1);
    nest.cost = std::max(1.0, flopsOf(kernel) /
                                  std::max(1.0, nominalCount(nest.shape)));
  }

  int64_t tasks() const override { return std::max<int64_t>(1, nest.tasks()); }
  std::vector<TaskExtent> taskExtents() const override {
    return nest.taskExtents();
  }

  void emit(Elemental &elemental, Value task, ValueRange outputs,
            Value) override {
    KernelBuilder &e = elemental.code;
    ArrayRef<Dim> shape = dimsOf(op.getOperand()),
                  update = dimsOf(op.getUpdate());
    if (llvm::is_contained(update, Dim(0)))
      return;
    SmallVector<Value> starts;
    for (auto [i, start] : llvm::enumerate(op.getStartIndices()))
      starts.push_back(elemental.clampedStart(start, ArrayRef<Coordinate>(),
                                              shape[i], update[i]));
    nest.body = [&](ArrayRef<Value> outer, Value begin, Value end) {
      e.loop(begin, end, 1, [&](Value last) {
        Coordinates place(outer.begin(), outer.end());
        place.push_back(last);
        place.resize(update.size());
        Coordinates target;
        for (auto [start, coordinate] : llvm::zip(starts, place))
          target.push_back(e.add(start, coordinate.value));
        elemental.store(elemental.at(op.getUpdate(), place), outputs[0],
                        elemental.linearize(target, shape),
                        elementOf(op.getOperand()));
      });
    };
    nest.emitTask(e, task);
  }

private:
  stablehlo::DynamicUpdateSliceOp op;
  LoopNest nest;
};

} // namespace

std::unique_ptr<KernelBody> cpu::createUpdateKernel(KernelOp kernel) {
  return std::make_unique<UpdateKernel>(kernel);
}
