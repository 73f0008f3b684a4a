//===- ArgExtreme.cpp - reductions to the position of an extreme ----------===//

#include "backend/cpu/emit/ArgExtreme.h"
#include "graph/stablehlo/ElementOrder.h"

#include "backend/cpu/emit/FloatOrder.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

/// Runs a region of four scalars, two numbers and their companions, for one
/// order of the numbers, none of them NaN; the first companion is the lesser
/// one. Values are truths, or one of the arguments.
class OrderRun {
public:
  /// \p order is the sign of the first number minus the second.
  OrderRun(Block &block, unsigned number, int order)
      : block(block), number(number), order(order) {}

  /// The number of the argument that is result \p result; nothing where that
  /// does not depend on the order alone.
  std::optional<unsigned> argumentFor(unsigned result) {
    std::optional<int> value = run(block.getTerminator()->getOperand(result));
    if (!value || *value < firstArgument)
      return std::nullopt;
    return *value - firstArgument;
  }
  bool comparesCompanions = false;

private:
  static constexpr int firstArgument = 2;
  static constexpr unsigned mostOps = 256;

  std::optional<int> run(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() != &block)
        return std::nullopt;
      return firstArgument + int(argument.getArgNumber());
    }
    if (auto known = values.find(value); known != values.end())
      return known->second;
    if (++count > mostOps || value.getParentBlock() != &block)
      return std::nullopt;
    return values[value] = compute(value.getDefiningOp());
  }

  std::optional<int> compute(Operation *op) {
    using namespace stablehlo;
    SmallVector<int> operands;
    for (Value operand : op->getOperands()) {
      std::optional<int> value = run(operand);
      if (!value)
        return std::nullopt;
      operands.push_back(*value);
    }
    if (auto compare = dyn_cast<CompareOp>(op))
      return computeCompare(compare, operands);
    if (isa<SelectOp>(op) && operands[0] < firstArgument)
      return operands[operands[0] ? 1 : 2];
    if (isa<MaxOp, MinOp>(op))
      return computeExtreme(operands[0], operands[1], isa<MaxOp>(op));
    if (llvm::any_of(operands,
                     [](int operand) { return operand >= firstArgument; }))
      return std::nullopt;
    if (isa<AndOp>(op))
      return operands[0] & operands[1];
    if (isa<OrOp>(op))
      return operands[0] | operands[1];
    if (isa<XorOp>(op))
      return operands[0] ^ operands[1];
    if (isa<NotOp>(op))
      return 1 - operands[0];
    return std::nullopt;
  }

  /// The sign of one argument minus another of the same kind.
  std::optional<int> orderOf(int a, int b) {
    a -= firstArgument;
    b -= firstArgument;
    if (a < 0 || b < 0 || a % 2 != b % 2)
      return std::nullopt;
    if (a == b)
      return 0;
    const bool areNumbers = unsigned(a % 2) == number;
    comparesCompanions |= !areNumbers;
    const int sign = areNumbers ? order : -1;
    return a < b ? sign : -sign;
  }

  std::optional<int> computeCompare(stablehlo::CompareOp op,
                                    ArrayRef<int> operands) {
    using Direction = stablehlo::ComparisonDirection;
    std::optional<int> sign = orderOf(operands[0], operands[1]);
    if (!sign || op.getCompareType() == stablehlo::ComparisonType::TOTALORDER ||
        stablehlo::comparesOtherwise(op))
      return std::nullopt;
    switch (op.getComparisonDirection()) {
    case Direction::EQ:
      return *sign == 0;
    case Direction::NE:
      return *sign != 0;
    case Direction::GE:
      return *sign >= 0;
    case Direction::GT:
      return *sign > 0;
    case Direction::LE:
      return *sign <= 0;
    case Direction::LT:
      return *sign < 0;
    }
    return std::nullopt;
  }

  /// Of equal floats the one with another sign may be the result, so that it is
  /// not said which.
  std::optional<int> computeExtreme(int a, int b, bool isGreatest) {
    std::optional<int> sign = orderOf(a, b);
    if (!sign ||
        (*sign == 0 && isa<FloatType>(elementOf(block.getArgument(number)))))
      return std::nullopt;
    return (*sign >= 0) == isGreatest ? a : b;
  }

  Block &block;
  unsigned number;
  int order;
  unsigned count = 0;
  DenseMap<Value, std::optional<int>> values;
};

} // namespace

/// Whether \p tensor's elements count up along dimension \p dim.
static bool countsAlong(Value tensor, int64_t dim) {
  Operation *op = tensor.getDefiningOp();
  if (auto iota = dyn_cast_or_null<stablehlo::IotaOp>(op))
    return int64_t(iota.getIotaDimension()) == dim &&
           isa<IntegerType>(elementOf(tensor)) &&
           elementOf(tensor).getIntOrFloatBitWidth() >= 32;
  auto broadcast = dyn_cast_or_null<stablehlo::BroadcastInDimOp>(op);
  if (!broadcast)
    return false;
  ArrayRef<int64_t> dims = broadcast.getBroadcastDimensions();
  auto found = llvm::find(dims, dim);
  return found != dims.end() &&
         countsAlong(broadcast.getOperand(), found - dims.begin());
}

bool ArgExtreme::readRegion(unsigned which) {
  number = which;
  const unsigned companion = 1 - number;
  Block &block = op.getBody().front();
  bool comparesCompanions = false;
  // For each order of two numbers, which pair the results are of.
  unsigned numberFrom[3] = {}, companionFrom[3] = {};
  for (int order : {-1, 0, 1}) {
    OrderRun run(block, number, order);
    std::optional<unsigned> first = run.argumentFor(number),
                            second = run.argumentFor(companion);
    if (!first || !second || *first % 2 != number || *second % 2 != companion)
      return false;
    numberFrom[order + 1] = *first / 2;
    companionFrom[order + 1] = *second / 2;
    comparesCompanions |= run.comparesCompanions;
  }
  isGreatest = numberFrom[0] == 1;
  const unsigned lesser = isGreatest ? 1 : 0;
  if (numberFrom[0] != lesser || companionFrom[0] != lesser ||
      numberFrom[2] == lesser || companionFrom[2] == lesser)
    return false;
  equalNumber = numberFrom[1] == 0 ? Pick::First : Pick::Last;
  equalCompanion = companionFrom[1] == 0 ? Pick::First : Pick::Last;
  return !comparesCompanions ||
         countsAlong(op.getInputs()[companion], op.getDimensions()[0]);
}

std::optional<ArgExtreme> ArgExtreme::of(stablehlo::ReduceOp op) {
  if (op.getInputs().size() != 2 || op.getDimensions().size() != 1)
    return std::nullopt;
  ArgExtreme arg;
  arg.op = op;
  arg.length = shapeOf(op.getInputs()[0])[op.getDimensions()[0]];
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
                     Extreme extreme) {
  if (isa<FloatType>(element))
    return emitToOrder(e, value, extreme);
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

Value ArgExtreme::positionOf(
    Elemental &elemental, Value extreme, Pick pick,
    llvm::function_ref<Coordinates(Value)> placeOf) const {
  KernelBuilder &e = elemental.code;
  stablehlo::ReduceOp reduce = op;
  Value input = reduce.getInputs()[number];
  Type element = elementOf(input);
  const Extreme which = isGreatest ? Extreme::Greatest : Extreme::Least;
  Type i32 = e.builder.getI32Type();
  const bool isFirst = pick == Pick::First;
  Value none = e.create<arith::ConstantIntOp>(isFirst ? length - 1 : 0, 32);
  Value found = e.loop(
      e.index(0), e.index(length), 1, ValueRange{none},
      [&](Value i, ValueRange carried) -> KernelBuilder::Carried {
        Value order = withoutZeroSign(
            e, toOrder(e, elemental.at(input, placeOf(i)), element, which),
            element);
        Value isHere =
            e.create<arith::CmpIOp>(arith::CmpIPredicate::eq, order, extreme);
        Value here = e.create<arith::SelectOp>(
            isHere, e.create<arith::IndexCastOp>(i32, i), none);
        if (isFirst)
          return {e.create<arith::MinSIOp>(carried[0], here)};
        return {e.create<arith::MaxSIOp>(carried[0], here)};
      })[0];
  return e.create<arith::IndexCastOp>(e.builder.getIndexType(), found);
}

SmallVector<Value>
ArgExtreme::emit(Elemental &elemental, ValueRange start,
                 llvm::function_ref<Coordinates(Value)> placeOf,
                 llvm::function_ref<SmallVector<Value>()> inOrder) const {
  KernelBuilder &e = elemental.code;
  stablehlo::ReduceOp reduce = op;
  Value input = reduce.getInputs()[number];
  Value other = reduce.getInputs()[1 - number];
  Type element = elementOf(input);
  const Extreme which = isGreatest ? Extreme::Greatest : Extreme::Least;
  auto orderAt = [&](Value i) {
    return toOrder(e, elemental.at(input, placeOf(i)), element, which);
  };
  Value begin = toOrder(e, start[number], element, which);
  const unsigned width = begin.getType().getIntOrFloatBitWidth();
  auto limit = [&](bool greatest) -> Value {
    return e.create<arith::ConstantOp>(e.builder.getIntegerAttr(
        begin.getType(), greatest ? APInt::getSignedMaxValue(width)
                                  : APInt::getSignedMinValue(width)));
  };
  Value extreme =
      e.loop(e.index(0), e.index(length), 1, ValueRange{limit(!isGreatest)},
             [&](Value i, ValueRange carried) -> KernelBuilder::Carried {
               return {emitExtreme(e, carried[0], orderAt(i), which)};
             })[0];
  auto quickly = [&]() -> KernelBuilder::Carried {
    Value sought = withoutZeroSign(e, extreme, element);
    Value position = positionOf(elemental, sought, equalCompanion, placeOf);
    Value numberPosition =
        equalNumber == equalCompanion
            ? position
            : positionOf(elemental, sought, equalNumber, placeOf);
    SmallVector<Value> arguments(start);
    arguments.resize(4);
    Value companion = elemental.at(other, placeOf(position));
    arguments[2 + number] = elemental.at(input, placeOf(numberPosition));
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
  Value hasNan = e.create<arith::OrIOp>(isBeyond(extreme), isBeyond(begin));
  return e.branch(hasNan, inOrder, quickly);
}
