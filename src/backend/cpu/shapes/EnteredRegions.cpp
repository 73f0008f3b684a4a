//===- EnteredRegions.cpp - guards of what may not be reached -------------===//

#include "backend/cpu/shapes/EnteredRegions.h"

#include "graph/nn/TensorBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// What a value is when a loop whose condition asks for it begins.
static Value atFirst(Value value) {
  for (;;) {
    auto argument = dyn_cast<BlockArgument>(value);
    auto loop =
        argument
            ? dyn_cast<stablehlo::WhileOp>(argument.getOwner()->getParentOp())
            : nullptr;
    if (!loop || argument.getOwner()->getParent() != &loop.getCond())
      return value;
    value = loop->getOperand(argument.getArgNumber());
  }
}

/// An expression that is positive exactly if \p a and \p b compare so.
static Known positiveWhere(stablehlo::ComparisonDirection direction,
                           const SizeExpression &a, const SizeExpression &b) {
  using Direction = stablehlo::ComparisonDirection;
  const Known more = differenceOf(a, b), less = differenceOf(b, a);
  if (!more || !less)
    return std::nullopt;
  switch (direction) {
  case Direction::LT:
    return less;
  case Direction::LE:
    return SizeExpression::sumOf(*less, 1);
  case Direction::GT:
    return more;
  case Direction::GE:
    return SizeExpression::sumOf(*more, 1);
  case Direction::NE:
    return SizeExpression::productOf(*more, *more);
  case Direction::EQ:
    const Known square = SizeExpression::productOf(*more, *less);
    return square ? SizeExpression::sumOf(*square, 1) : Known();
  }
  llvm_unreachable("not a comparison");
}

Known EnteredRegions::positiveIf(Value condition, bool holds,
                                 unsigned depth) const {
  using namespace stablehlo;
  constexpr unsigned deepest = 8;
  if (depth == deepest)
    return std::nullopt;
  auto numberOf = [&](Value value) -> Known {
    for (;;) {
      value = atFirst(value);
      if (const Known known = values.numberIn(value))
        return known;
      Operation *op = value.getDefiningOp();
      if (!isa_and_nonnull<ConvertOp, ReshapeOp>(op) ||
          !getElementTypeOrSelf(op->getOperand(0)).isSignlessInteger())
        return std::nullopt;
      value = op->getOperand(0);
    }
  };
  condition = atFirst(condition);
  Operation *op = condition.getDefiningOp();
  if (const Known known = numberOf(condition); known && known->number())
    return (*known->number() != 0) == holds;
  if (isa_and_nonnull<NotOp>(op))
    return positiveIf(op->getOperand(0), !holds, depth + 1);
  // Both must hold: where one does not, neither does the whole.
  if (holds ? isa_and_nonnull<AndOp>(op) : isa_and_nonnull<OrOp>(op))
    for (Value part : op->getOperands())
      if (Known size = positiveIf(part, holds, depth + 1);
          size && (!size->number() || *size->number() <= 0))
        return size;
  auto compare = dyn_cast_or_null<CompareOp>(op);
  const Known left = compare ? numberOf(compare.getLhs()) : Known(),
              right = compare ? numberOf(compare.getRhs()) : Known();
  if (!left || !right)
    return std::nullopt;
  const auto direction = compare.getComparisonDirection();
  return positiveWhere(holds ? direction : oppositeOf(direction), *left,
                       *right);
}

/// The condition of \p loop for what it begins with, computed in front of it;
/// null where that would be much.
static Value firstCondition(stablehlo::WhileOp loop,
                            SmallVectorImpl<Operation *> &made) {
  constexpr size_t most = 32;
  Block &block = loop.getCond().front();
  auto isPlain = [](Operation &op) {
    return op.getNumRegions() == 0 && isMemoryEffectFree(&op);
  };
  if (block.getOperations().size() > most ||
      !llvm::all_of(block.without_terminator(), isPlain))
    return {};
  IRMapping first;
  first.map(block.getArguments(), loop->getOperands());
  OpBuilder builder(loop);
  for (Operation &op : block.without_terminator())
    made.push_back(builder.clone(op, first));
  return first.lookupOrDefault(block.getTerminator()->getOperand(0));
}

/// What a condition that no expression decides is when the program runs.
Known EnteredRegions::computedEntry(Region &region) {
  Operation *parent = region.getParentOp();
  if (!facts.mayDefine || !isa<func::FuncOp>(parent->getParentOp()))
    return std::nullopt;
  Value condition;
  bool holds = true;
  SmallVector<Operation *> made;
  if (auto choice = dyn_cast<stablehlo::IfOp>(parent)) {
    condition = choice.getPred();
    holds = &region == &choice.getTrueBranch();
  } else if (auto loop = dyn_cast<stablehlo::WhileOp>(parent)) {
    condition = firstCondition(loop, made);
  }
  if (!condition)
    return std::nullopt;
  for (Operation *op : made)
    if (!follow(op))
      return std::nullopt;
  OpBuilder builder(parent);
  nn::TensorBuilder emit(builder, parent->getLoc());
  Value entered = holds ? condition : emit.make<stablehlo::NotOp>(condition);
  return computed.define(
      emit.reshape(emit.convert(entered, emit.integerType(64)), nn::Sizes()), 0,
      parent);
}

Known EnteredRegions::enteredIf(Region &region) {
  const auto [found, isNew] = entries.try_emplace(&region);
  if (!isNew)
    return found->second;
  Known entered;
  if (auto choice = dyn_cast<stablehlo::IfOp>(region.getParentOp()))
    entered = positiveIf(choice.getPred(), &region == &choice.getTrueBranch());
  else if (auto loop = dyn_cast<stablehlo::WhileOp>(region.getParentOp()))
    entered =
        &region == &loop.getCond()
            ? Known(1)
            : positiveIf(loop.getCond().front().getTerminator()->getOperand(0));
  return entries[&region] = entered;
}

Known EnteredRegions::leftIfEntered(Operation *op, const SizeExpression &slice,
                                    const SizeExpression &size,
                                    const SizeExpression &left) {
  SmallVector<Region *> undecided;
  Known product = left;
  auto multiply = [&](const SizeExpression &entered) {
    if (const Known next = SizeExpression::productOf(*product, entered))
      product = next;
  };
  for (Region *region = op->getParentRegion();
       !isa<func::FuncOp>(region->getParentOp());
       region = region->getParentRegion()) {
    const Known entered = enteredIf(*region);
    if (!entered) {
      undecided.push_back(region);
      continue;
    }
    if (const auto number = entered->number()) {
      if (*number <= 0)
        return std::nullopt;
      continue;
    }
    // Each step of a loop has its slice: entered - 1 <= size - slice.
    const Known most = SizeExpression::sumOf(slice, -1);
    const Known reach = most ? SizeExpression::sumOf(*entered, *most) : Known();
    if (reach && facts.guards.isAtMost(*reach, size))
      return std::nullopt;
    multiply(*entered);
  }
  for (Region *region : undecided)
    if (const Known entered = computedEntry(*region)) {
      entries[region] = entered;
      multiply(*entered);
    }
  facts.guards.setNode(op);
  return product;
}

void EnteredRegions::requireRoom(Operation *op, const SizeExpression &slice,
                                 const SizeExpression &size,
                                 const Twine &sliceIs, const Twine &sizeIs) {
  if (facts.guards.isAtMost(slice, size))
    return;
  const Known rest = differenceOf(size, slice);
  const Known left = rest ? leftIfEntered(op, slice, size, *rest) : Known();
  if (left && *left != *rest)
    facts.guards.requireNonNegative(*left, "what is left beside the slices");
  else if (left || !rest)
    facts.guards.requireAtMost(slice, size, sliceIs, sizeIs);
}

void EnteredRegions::requireSlice(Operation *op, const SizeExpression &slice,
                                  const SizeExpression &size,
                                  const Dims &result) {
  Known left = differenceOf(size, slice);
  const Known count = facts.countOf(result);
  if (left && count && (!count->number() || *count->number() == 0))
    left = SizeExpression::productOf(*left, *count);
  if (left)
    left = leftIfEntered(op, slice, size, *left);
  if (left)
    facts.guards.requireNonNegative(*left);
}
