//===- ElementalControl.cpp - control flow inside a kernel ----------------===//
//
// In the regions of reductions and the like, branches and loops are code inside
// a kernel. Scalars are values of scf.if and scf.while; tensors lie in buffers.
//
//===----------------------------------------------------------------------===//

#include "backend/cpu/emit/Elemental.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

static bool isScalar(Value tensor) { return dimsOf(tensor).empty(); }

/// Gives \p tensors, all but those in buffers, the \p values.
void Elemental::bindScalars(ValueRange tensors, ValueRange values) {
  for (Value tensor : tensors)
    if (isScalar(tensor)) {
      bind(tensor, [value = values.front()](Place) { return value; });
      values = values.drop_front();
    }
}

/// The scalars that \p region returns; its tensors go into the buffers of
/// \p results.
Values Elemental::branchInto(Region &region, ValueRange results) {
  Block &block = region.front();
  computeInOrder(block);
  Values scalars;
  for (auto [value, result] :
       llvm::zip_equal(block.getTerminator()->getOperands(), results))
    if (isScalar(result))
      scalars.push_back(at(value, Place()));
    else
      copyTo(value, bufferOf(result));
  return scalars;
}

/// The last branch for an index out of range.
Values Elemental::chooseRegion(Value index, Operation *op, size_t first) {
  auto here = [&] {
    return branchInto(op->getRegion(first), op->getResults());
  };
  if (first + 1 == op->getNumRegions())
    return here();
  Value isHere = code.create<arith::CmpIOp>(
      arith::CmpIPredicate::eq, index,
      code.create<arith::ConstantIntOp>(int64_t(first), 32));
  return code.branch(isHere, here,
                     [&] { return chooseRegion(index, op, first + 1); });
}

Values Elemental::repeatLoop(stablehlo::WhileOp loop) {
  Values initial;
  for (auto [operand, result] :
       llvm::zip_equal(loop->getOperands(), loop->getResults()))
    if (isScalar(operand))
      initial.push_back(at(operand, Place()));
    else
      copyTo(operand, bufferOf(result));
  auto enter = [&](Region &region, ValueRange carried) -> Block & {
    Block &block = region.front();
    bindScalars(block.getArguments(), carried);
    for (auto [argument, result] :
         llvm::zip_equal(block.getArguments(), loop->getResults()))
      if (!isScalar(argument))
        bindMemory(argument, bufferOf(result));
    computeInOrder(block);
    return block;
  };
  return code.repeat(
      initial,
      [&](ValueRange carried) {
        Block &block = enter(loop.getCond(), carried);
        return at(block.getTerminator()->getOperand(0), Place());
      },
      [&](ValueRange carried) {
        return nextOf(enter(loop.getBody(), carried), loop->getResults());
      });
}

/// The scalars of a loop's next round. All tensors are computed before any of
/// them replaces what they may be computed from, in the buffers of \p carried.
Values Elemental::nextOf(Block &block, ValueRange carried) {
  Values scalars;
  auto forTensors = [&](llvm::function_ref<void(Value, Value, Value)> use) {
    for (auto [value, argument, result] :
         llvm::zip_equal(block.getTerminator()->getOperands(),
                         block.getArguments(), carried))
      if (!isScalar(value) && value != argument)
        use(value, argument, result);
  };
  for (Value value : block.getTerminator()->getOperands())
    if (isScalar(value))
      scalars.push_back(at(value, Place()));
  forTensors([&](Value value, Value argument, Value) {
    copyTo(value, bufferOf(argument));
  });
  forTensors([&](Value, Value argument, Value result) {
    code.loop(code.index(0), code.index(tensorOf(result).getNumElements()), 1,
              [&](Value i) {
                Type element = tensorOf(result).getElementType();
                store(load(bufferOf(argument), i, element), bufferOf(result), i,
                      element);
              });
  });
  return scalars;
}

void Elemental::computeControl(Operation *op) {
  Values scalars;
  if (auto branch = dyn_cast<stablehlo::IfOp>(op))
    scalars = code.branch(
        at(branch.getPred(), Place()),
        [&] { return branchInto(branch.getTrueBranch(), op->getResults()); },
        [&] { return branchInto(branch.getFalseBranch(), op->getResults()); });
  else if (auto choice = dyn_cast<stablehlo::CaseOp>(op))
    scalars = chooseRegion(at(choice.getIndex(), Place()), op, 0);
  else
    scalars = repeatLoop(cast<stablehlo::WhileOp>(op));
  bindScalars(op->getResults(), scalars);
  for (Value result : op->getResults())
    if (!isScalar(result))
      bindMemory(result, bufferOf(result));
}

std::optional<Values> Elemental::mapAt(stablehlo::MapOp op, Place place) {
  if (llvm::any_of(place, [](const Coordinate &c) { return c.lanes; }))
    return std::nullopt;
  Values arguments;
  for (Value input : op.getInputs())
    arguments.push_back(at(input, place));
  return inlineRegion(op.getComputation(), arguments);
}
