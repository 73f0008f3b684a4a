//===- ElementalControl.cpp - control flow on scalars ---------------------===//
//
// In the regions of reductions and the like, branches and loops are code inside
// a kernel.
//
//===----------------------------------------------------------------------===//

#include "backend/cpu/emit/Elemental.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// The last branch for an index out of range.
SmallVector<Value> Elemental::chooseRegion(Value index,
                                           MutableArrayRef<Region> regions,
                                           size_t first) {
  Region &region = regions[first];
  auto here = [&] { return inlineRegion(region, {}); };
  if (first + 1 == regions.size())
    return here();
  Value isHere = emission.create<arith::CmpIOp>(
      arith::CmpIPredicate::eq, index,
      emission.create<arith::ConstantIntOp>(int64_t(first), 32));
  return emission.branch(
      isHere, here, [&] { return chooseRegion(index, regions, first + 1); });
}

std::optional<Elemental::Values> Elemental::controlAt(Operation *op,
                                                      Place place) {
  if (auto branch = dyn_cast<stablehlo::IfOp>(op))
    return Values(emission.branch(
        at(branch.getPred(), place),
        [&] { return inlineRegion(branch.getTrueBranch(), {}); },
        [&] { return inlineRegion(branch.getFalseBranch(), {}); }));
  if (auto choice = dyn_cast<stablehlo::CaseOp>(op))
    return chooseRegion(at(choice.getIndex(), place), choice->getRegions(), 0);
  auto loop = cast<stablehlo::WhileOp>(op);
  Values initial;
  for (Value operand : loop->getOperands())
    initial.push_back(at(operand, place));
  return Values(emission.repeat(
      initial,
      [&](ValueRange carried) {
        return inlineRegion(loop.getCond(), carried)[0];
      },
      [&](ValueRange carried) {
        return inlineRegion(loop.getBody(), carried);
      }));
}

std::optional<Elemental::Values> Elemental::mapAt(stablehlo::MapOp op,
                                                  Place place) {
  if (llvm::any_of(place, [](const Coordinate &c) { return c.lanes; }))
    return std::nullopt;
  Values arguments;
  for (Value input : op.getInputs())
    arguments.push_back(at(input, place));
  return inlineRegion(op.getComputation(), arguments);
}
