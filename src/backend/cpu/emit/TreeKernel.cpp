//===- TreeKernel.cpp - kernels of tree ensembles -------------------------===//

#include "backend/cpu/emit/TreeKernel.h"

#include "backend/cpu/kernels/trees/TreeTraversal.h"
#include "graph/Types.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

static TreeShape shapeOf(TreeEnsembleOp op) {
  using Aggregate = TreeShape::Aggregate;
  TreeShape shape;
  shape.layout = op.layout();
  shape.aggregate = llvm::StringSwitch<Aggregate>(op.getAggregate())
                        .Case("average", Aggregate::Average)
                        .Case("minimum", Aggregate::Minimum)
                        .Case("maximum", Aggregate::Maximum)
                        .Default(Aggregate::Sum);
  shape.rows = dimsOf(op.getOperand())[0];
  shape.features = tensorOf(op.getOperand()).getDimSize(1);
  shape.targets = tensorOf(op.getResult()).getDimSize(1);
  shape.trees = op.trees();
  shape.isDouble = tensorOf(op.getOperand()).getElementType().isF64();
  return shape;
}

namespace {

class TreeKernel : public RootKernel {
public:
  TreeKernel(KernelOp kernel, TreeEnsembleOp op, const Target &target)
      : RootKernel(kernel, op, target), op(op), traversal(shapeOf(op), target) {
  }

  KernelPlan planRoot() const override {
    KernelPlan plan;
    plan.name = "trees";
    plan.scratch.bytes = traversal.scratchBytes();
    plan.scratch.type = ElementType::F64;
    const Dim rows = dimsOf(op.getOperand())[0];
    if (rows.isStatic())
      plan.work =
          TaskLoop{std::max<int64_t>(
                       llvm::divideCeil(rows.value(), traversal.taskRows()), 1),
                   double(rows.value()) * traversal.flops()};
    else
      plan.work = DynamicTaskLoop{
          {{{rows}, traversal.taskRows()}},
          traversal.flops() / double(tensorOf(op.getResult()).getDimSize(1))};
    return plan;
  }

protected:
  void emitTask(size_t, OpBuilder &builder, Location location, Value task,
                ValueRange memory) const override {
    const size_t inputs = kernel.getInputs().size();
    TreeTraversal::Memory own;
    own.x = memory[inputIndex(op.getOperand())];
    own.nodes = memory[inputIndex(op.getNodes())];
    own.roots = memory[inputIndex(op.getRoots())];
    if (Value weights = op.getWeights())
      own.weights = memory[inputIndex(weights)];
    own.result = memory[inputs];
    own.scratch = memory[inputs + 1];
    traversal.build(builder, location, task, own);
  }

private:
  mutable TreeEnsembleOp op;
  TreeTraversal traversal;
};

} // namespace

std::unique_ptr<RootKernel> cpu::createTreeKernel(KernelOp kernel,
                                                  TreeEnsembleOp op,
                                                  const Target &target) {
  return std::make_unique<TreeKernel>(kernel, op, target);
}
