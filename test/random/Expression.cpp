//===- Expression.cpp - random arithmetic on scalars ----------------------===//

#include "random/Draft.h"

using namespace mlir;

namespace sinter {

namespace {

constexpr StringRef ofNumbers[] = {"stablehlo.add", "stablehlo.subtract",
                                   "stablehlo.maximum", "stablehlo.minimum",
                                   "stablehlo.multiply"};
constexpr StringRef ofBits[] = {"stablehlo.and", "stablehlo.or",
                                "stablehlo.xor"};

class Expression {
public:
  Expression(Draft &draft, ValueRange scalars)
      : draft(draft), scalars(scalars) {}

  Value make(Type element, int depth) {
    if (depth == 0 || draft.dice.oneIn(5))
      return leaf(element);
    switch (draft.dice.between(0, 5)) {
    case 0:
      return select(element, depth);
    case 1:
      if (!element.isUnsignedInteger() && !element.isInteger(1))
        return build("stablehlo.negate", make(element, depth - 1));
      [[fallthrough]];
    case 2:
      if (isa<IntegerType>(element))
        return binary(draft.dice.among(ofBits), element, depth);
      [[fallthrough]];
    default:
      return binary(isa<ComplexType>(element)
                        ? draft.dice.among(ArrayRef(ofNumbers).take_front(2))
                    : element.isInteger(1) ? draft.dice.among(ofBits)
                                           : draft.dice.among(ofNumbers),
                    element, depth);
    }
  }

private:
  static Type elementOf(Value value) {
    return getElementTypeOrSelf(value.getType());
  }

  Value build(StringRef name, ValueRange operands) {
    OperationState state(draft.location, name);
    state.addOperands(operands);
    state.addTypes(operands.front().getType());
    return draft.builder.create(state)->getResult(0);
  }

  Value binary(StringRef name, Type element, int depth) {
    Value lhs = make(element, depth - 1);
    Value rhs = make(element, depth - 1);
    return build(name, {lhs, rhs});
  }

  /// One of the scalars, if need be another type's.
  Value leaf(Type element) {
    auto type = RankedTensorType::get({}, element);
    SmallVector<Value> same, others;
    for (Value scalar : scalars)
      if (elementOf(scalar) == element)
        same.push_back(scalar);
      else if (converts(elementOf(scalar), element))
        others.push_back(scalar);
    if (!same.empty() && !draft.dice.oneIn(8))
      return draft.dice.among(same);
    if (!others.empty() && !draft.dice.oneIn(3))
      return draft.builder.create<stablehlo::ConvertOp>(
          draft.location, type, draft.dice.among(others));
    return draft.constant(type, draft.dice.between(0, 3));
  }

  /// Whether every value has one that it becomes.
  static bool converts(Type from, Type to) {
    return isa<IntegerType>(from) && !isa<ComplexType>(to);
  }

  Value select(Type element, int depth) {
    SmallVector<Value> comparable;
    for (Value scalar : scalars)
      if (!isa<ComplexType>(elementOf(scalar)))
        comparable.push_back(scalar);
    if (comparable.empty())
      return leaf(element);
    using stablehlo::ComparisonDirection;
    static constexpr ComparisonDirection directions[] = {
        ComparisonDirection::EQ, ComparisonDirection::NE,
        ComparisonDirection::GE, ComparisonDirection::GT,
        ComparisonDirection::LE, ComparisonDirection::LT};
    Value lhs = draft.dice.among(comparable);
    Value rhs = make(elementOf(lhs), depth - 1);
    Value condition = draft.compared(lhs, rhs, draft.dice.among(directions));
    Value yes = make(element, depth - 1);
    Value no = make(element, depth - 1);
    return draft.builder.create<stablehlo::SelectOp>(draft.location, condition,
                                                     yes, no);
  }

  Draft &draft;
  ValueRange scalars;
};

} // namespace

Value Draft::expression(ValueRange scalars, Type element, int depth) {
  return Expression(*this, scalars).make(element, depth);
}

void Draft::expressionBlock(Region &region, TypeRange types,
                            TypeRange results) {
  scalarBlock(region, types, [&](ValueRange scalars) {
    SmallVector<Value> values;
    for (Type type : results)
      values.push_back(expression(scalars, getElementTypeOrSelf(type),
                                  int(dice.between(1, 3))));
    return values;
  });
}

} // namespace sinter
