//===- ArgMinMax.cpp - reductions to the position of an extreme -----------===//

#include "backend/cpu/emit/ArgMinMax.h"

#include "backend/cpu/emit/FloatOrder.h"
#include "graph/stablehlo/Comparators.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

bool ArgMinMax::readRegion(unsigned which) {
  number = which;
  const unsigned companion = 1 - number;
  Block &block = op.getBody().front();
  bool comparesCompanions = false;
  // For each order of two numbers, which pair the results are of.
  unsigned numberFrom[3] = {}, companionFrom[3] = {};
  for (int order : {-1, 0, 1}) {
    // The first companion is the lesser one.
    auto kept = stablehlo::keptPair(block, number, order,
                                    /*companionOrder=*/-1);
    if (!kept)
      return false;
    numberFrom[order + 1] = kept->number;
    companionFrom[order + 1] = kept->companion;
    comparesCompanions |= kept->comparesCompanions;
  }
  isGreatest = numberFrom[0] == 1;
  const unsigned lesser = isGreatest ? 1 : 0;
  if (numberFrom[0] != lesser || companionFrom[0] != lesser ||
      numberFrom[2] == lesser || companionFrom[2] == lesser)
    return false;
  equalNumber = numberFrom[1] == 0 ? Pick::First : Pick::Last;
  equalCompanion = companionFrom[1] == 0 ? Pick::First : Pick::Last;
  return !comparesCompanions ||
         stablehlo::countsAlong(op.getInputs()[companion],
                                op.getDimensions()[0]);
}

std::optional<ArgMinMax> ArgMinMax::of(stablehlo::ReduceOp op) {
  if (op.getInputs().size() != 2 || op.getDimensions().size() != 1)
    return std::nullopt;
  ArgMinMax arg;
  arg.op = op;
  arg.length = dimsOf(op.getInputs()[0])[op.getDimensions()[0]].valueOr(0);
  if (arg.length < 2 || arg.length > std::numeric_limits<int32_t>::max())
    return std::nullopt;
  for (unsigned number : {0, 1}) {
    Type element = elementOf(op.getInputs()[number]);
    const bool hasOrder = hasIntegerOrder(element) ||
                          (isa<IntegerType>(element) && !element.isInteger(1));
    if (hasOrder && element == elementOf(op.getBody().getArgument(number)) &&
        arg.readRegion(number))
      return arg;
  }
  return std::nullopt;
}

/// \p value, of element type \p element, as a signed integer of its order.
static Value toOrder(KernelBuilder &e, Value value, Type element,
                     MinOrMax minOrMax) {
  if (isa<FloatType>(element))
    return emitToOrder(e, value, minOrMax);
  if (!element.isUnsignedInteger())
    return value;
  auto type = cast<IntegerType>(value.getType());
  return e.create<arith::XOrIOp>(
      value, e.create<arith::ConstantOp>(e.builder.getIntegerAttr(
                 type, APInt::getSignMask(type.getWidth()))));
}

/// An integer in which 0.0 and -0.0, next to each other in the order, are one.
static Value withoutZeroSign(KernelBuilder &e, Value order, Type element) {
  if (!isa<FloatType>(element))
    return order;
  auto constant = [&](int64_t value) {
    return e.create<arith::ConstantOp>(
        e.builder.getIntegerAttr(order.getType(), value));
  };
  Value isMinusZero =
      e.create<arith::CmpIOp>(arith::CmpIPredicate::eq, order, constant(-1));
  return e.create<arith::SelectOp>(isMinusZero, constant(0), order);
}

Value ArgMinMax::positionOf(
    Elemental &elemental, Value minOrMax, Pick pick,
    llvm::function_ref<Coordinates(Value)> coordinatesOf) const {
  KernelBuilder &e = elemental.code;
  stablehlo::ReduceOp reduce = op;
  Value input = reduce.getInputs()[number];
  Type element = elementOf(input);
  const MinOrMax which = isGreatest ? MinOrMax::Greatest : MinOrMax::Least;
  Type i32 = e.builder.getI32Type();
  const bool isFirst = pick == Pick::First;
  Value none = e.create<arith::ConstantIntOp>(isFirst ? length - 1 : 0, 32);
  Value found = e.loop(
      e.index(0), e.index(length), 1, ValueRange{none},
      [&](Value i, ValueRange carried) -> KernelBuilder::Carried {
        Value order = withoutZeroSign(
            e,
            toOrder(e, elemental.at(input, coordinatesOf(i)), element, which),
            element);
        Value isHere =
            e.create<arith::CmpIOp>(arith::CmpIPredicate::eq, order, minOrMax);
        Value here = e.create<arith::SelectOp>(
            isHere, e.create<arith::IndexCastOp>(i32, i), none);
        if (isFirst)
          return {e.create<arith::MinSIOp>(carried[0], here)};
        return {e.create<arith::MaxSIOp>(carried[0], here)};
      })[0];
  return e.create<arith::IndexCastOp>(e.builder.getIndexType(), found);
}

SmallVector<Value>
ArgMinMax::emit(Elemental &elemental, ValueRange start,
                llvm::function_ref<Coordinates(Value)> coordinatesOf,
                llvm::function_ref<SmallVector<Value>()> inOrder) const {
  KernelBuilder &e = elemental.code;
  stablehlo::ReduceOp reduce = op;
  Value input = reduce.getInputs()[number];
  Value other = reduce.getInputs()[1 - number];
  Type element = elementOf(input);
  const MinOrMax which = isGreatest ? MinOrMax::Greatest : MinOrMax::Least;
  auto orderAt = [&](Value i) {
    return toOrder(e, elemental.at(input, coordinatesOf(i)), element, which);
  };
  Value begin = toOrder(e, start[number], element, which);
  const unsigned width = begin.getType().getIntOrFloatBitWidth();
  auto limit = [&](bool greatest) -> Value {
    return e.create<arith::ConstantOp>(e.builder.getIntegerAttr(
        begin.getType(), greatest ? APInt::getSignedMaxValue(width)
                                  : APInt::getSignedMinValue(width)));
  };
  Value minOrMax =
      e.loop(e.index(0), e.index(length), 1, ValueRange{limit(!isGreatest)},
             [&](Value i, ValueRange carried) -> KernelBuilder::Carried {
               return {emitMinMax(e, carried[0], orderAt(i), which)};
             })[0];
  auto quickly = [&]() -> KernelBuilder::Carried {
    Value sought = withoutZeroSign(e, minOrMax, element);
    Value position =
        positionOf(elemental, sought, equalCompanion, coordinatesOf);
    Value numberPosition =
        equalNumber == equalCompanion
            ? position
            : positionOf(elemental, sought, equalNumber, coordinatesOf);
    SmallVector<Value> arguments(start);
    arguments.resize(4);
    Value companion = elemental.at(other, coordinatesOf(position));
    arguments[2 + number] = elemental.at(input, coordinatesOf(numberPosition));
    arguments[3 - number] =
        emitConvert(e, companion, elementOf(other),
                    elementOf(reduce.getBody().getArgument(1 - number)));
    return elemental.inlineRegion(reduce.getBody(), arguments);
  };
  if (!isa<FloatType>(element))
    return quickly();
  Value beyond = limit(isGreatest);
  auto isBeyond = [&](Value order) {
    return e.create<arith::CmpIOp>(arith::CmpIPredicate::eq, order, beyond);
  };
  Value hasNan = e.create<arith::OrIOp>(isBeyond(minOrMax), isBeyond(begin));
  return e.branch(hasNan, inOrder, quickly);
}
