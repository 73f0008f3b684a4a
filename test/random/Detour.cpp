//===- Detour.cpp - scalars that become tensors on their way --------------===//

#include "random/Draft.h"

using namespace mlir;

namespace sinter {

/// The first element of what a branch of `if` returns, both of which return the
/// same.
static Value throughBranches(Draft &draft, Value tensor, Value scalar) {
  OpBuilder &builder = draft.builder;
  Value condition =
      draft.compared(scalar, scalar, stablehlo::ComparisonDirection::EQ);
  auto op = builder.create<stablehlo::IfOp>(draft.location, tensor.getType(),
                                            condition);
  for (Region &region : op->getRegions()) {
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&region);
    Value moved = builder.create<stablehlo::ReverseOp>(
        draft.location, tensor, builder.getDenseI64ArrayAttr({0}));
    builder.create<stablehlo::ReturnOp>(draft.location, moved);
  }
  return op->getResult(0);
}

/// All elements of \p tensor in the order that they have.
static Value throughSort(Draft &draft, Value tensor) {
  OpBuilder &builder = draft.builder;
  OperationState state(draft.location, "stablehlo.sort");
  state.addOperands(tensor);
  state.addTypes(tensor.getType());
  state.addAttribute("dimension", builder.getI64IntegerAttr(0));
  Region *region = state.addRegion();
  auto scalar = RankedTensorType::get(
      {}, cast<RankedTensorType>(tensor.getType()).getElementType());
  {
    OpBuilder::InsertionGuard guard(builder);
    Block *block = builder.createBlock(region, {}, {scalar, scalar},
                                       {draft.location, draft.location});
    Value differs = draft.compared(block->getArgument(0), block->getArgument(1),
                                   stablehlo::ComparisonDirection::NE);
    builder.create<stablehlo::ReturnOp>(draft.location, differs);
  }
  return builder.create(state)->getResult(0);
}

Value Draft::detour(Value scalar) {
  auto row = RankedTensorType::get(
      {dice.between(1, 3)},
      cast<RankedTensorType>(scalar.getType()).getElementType());
  Value tensor = builder.create<stablehlo::BroadcastInDimOp>(
      location, row, scalar, builder.getDenseI64ArrayAttr({}));
  if (dice.oneIn(3))
    tensor = throughBranches(*this, tensor, scalar);
  if (row.getElementType().isIntOrFloat() && dice.oneIn(3))
    tensor = throughSort(*this, tensor);
  Value first = builder.create<stablehlo::SliceOp>(
      location, tensor, builder.getDenseI64ArrayAttr({0}),
      builder.getDenseI64ArrayAttr({1}), builder.getDenseI64ArrayAttr({1}));
  return builder.create<stablehlo::ReshapeOp>(
      location, RankedTensorType::get({}, row.getElementType()), first);
}

} // namespace sinter
