// Elementwise ops of stablehlo.

#include "formats/paddle/write/WriterRules.h"
#include "graph/Broadcast.h"
#include "graph/Constants.h"
#include "graph/stablehlo/ElementOrder.h"
#include "llvm/ADT/StringMap.h"
#include <cmath>

using namespace mlir;

namespace sinter::paddle {

static bool isBool(Type type) { return type.isInteger(1); }

//===----------------------------------------------------------------------===//
// One to one
//===----------------------------------------------------------------------===//

/// The op's name in Paddle, and that of its logical form on i1.
struct OneToOne {
  StringRef op, paddle, onBool;
};

static const OneToOne oneToOne[] = {
    {"stablehlo.abs", "abs", ""},
    {"stablehlo.ceil", "ceil", ""},
    {"stablehlo.cosine", "cos", ""},
    {"stablehlo.exponential", "exp", ""},
    {"stablehlo.exponential_minus_one", "expm1", ""},
    {"stablehlo.floor", "floor", ""},
    {"stablehlo.log", "log", ""},
    {"stablehlo.log_plus_one", "log1p", ""},
    {"stablehlo.logistic", "sigmoid", ""},
    {"stablehlo.round_nearest_afz", "round", ""},
    {"stablehlo.rsqrt", "rsqrt", ""},
    {"stablehlo.sign", "sign", ""},
    {"stablehlo.sine", "sin", ""},
    {"stablehlo.sqrt", "sqrt", ""},
    {"stablehlo.tan", "tan", ""},
    {"stablehlo.tanh", "tanh", ""},
    {"stablehlo.not", "bitwise_not", "logical_not"},
    {"stablehlo.add", "elementwise_add", "logical_or"},
    {"stablehlo.divide", "elementwise_div", ""},
    {"stablehlo.maximum", "elementwise_max", "logical_or"},
    {"stablehlo.minimum", "elementwise_min", "logical_and"},
    {"stablehlo.multiply", "elementwise_mul", "logical_and"},
    {"stablehlo.power", "elementwise_pow", ""},
    {"stablehlo.subtract", "elementwise_sub", ""},
    {"stablehlo.and", "bitwise_and", "logical_and"},
    {"stablehlo.or", "bitwise_or", "logical_or"},
    {"stablehlo.xor", "bitwise_xor", "logical_xor"},
};

/// A finite scalar constant for scaling or clamping.
static std::optional<double> finiteScalar(Value value) {
  auto number =
      isa<FloatType>(elementOf(value)) ? attributeNumber(value) : std::nullopt;
  return number && std::isfinite(*number) ? number : std::nullopt;
}

/// x * scalar, x / scalar, x + scalar and x - scalar are written as `scale`.
static LogicalResult writeScale(OperatorWriter &e, mlir::Operation *op) {
  Value x = op->getOperand(0), y = op->getOperand(1);
  const bool multiplies = isa<stablehlo::MulOp>(op);
  const bool adds = isa<stablehlo::AddOp>(op);
  if ((multiplies || adds) && finiteScalar(x))
    std::swap(x, y);
  auto number = finiteScalar(y);
  // `scale` rounds half precision differently.
  if (!number || !(elementOf(x).isF32() || elementOf(x).isF64()) ||
      e.writer.isBroadcast(x.getDefiningOp()) ||
      x.getDefiningOp<stablehlo::ConstantOp>())
    return failure();
  const double bias = multiplies ? 0 : adds ? *number : -*number;
  return e.alias(e.scaled(e.operand(x), multiplies ? *number : 1.0, bias));
}

static LogicalResult writeOneToOne(OperatorWriter &e, mlir::Operation *op) {
  static const auto *table = [] {
    auto *map = new llvm::StringMap<const OneToOne *>();
    for (const OneToOne &each : oneToOne)
      (*map)[each.op] = &each;
    return map;
  }();
  const OneToOne &entry = *table->lookup(op->getName().getStringRef());
  auto type = tensorOf(op->getResult(0));
  if (!e.typeNumber(type.getElementType()))
    return e.unsupported("of this element type");
  StringRef name = isBool(type.getElementType()) ? entry.onBool : entry.paddle;
  if (name.empty())
    return e.unsupported("of booleans");
  if (op->getNumOperands() == 1)
    return e.result(name, {{"X", e.operand(op->getOperand(0))}});
  if (isa<stablehlo::MulOp, stablehlo::AddOp, stablehlo::SubtractOp>(op) &&
      succeeded(writeScale(e, op)))
    return success();
  return e.alias(e.binary(name, op->getOperand(0), op->getOperand(1), type));
}

//===----------------------------------------------------------------------===//
// Functions that Paddle lacks
//===----------------------------------------------------------------------===//

static LogicalResult writeNegate(OperatorWriter &e, stablehlo::NegOp op) {
  return e.alias(e.scaled(e.operand(op.getOperand()), -1, 0));
}

/// Halfway between f and f + 1: the even one, 2 * floor((f + 1) / 2).
static LogicalResult writeRoundEven(OperatorWriter &e,
                                    stablehlo::RoundNearestEvenOp op) {
  Var x = e.operand(op.getOperand());
  Var floor = e.unary("floor", x);
  Var isHalf = e.compare("equal", e.binary("elementwise_sub", x, floor),
                         e.scalarFor(x, 0.5));
  Var even = e.scaled(e.unary("floor", e.scaled(floor, 0.5, 0.5)), 2, 0);
  return e.alias(e.where(isHalf, even, e.unary("round", x)));
}

/// For integers x - (x / y) * y with division towards zero; for floats |x| mod
/// |y| with the sign of x, since Paddle's has that of y.
static LogicalResult writeRemainder(OperatorWriter &e, stablehlo::RemOp op) {
  auto type = tensorOf(op.getResult());
  if (isa<FloatType>(elementOf(op))) {
    Var x = e.operand(op.getLhs());
    Var rest = e.binary("elementwise_mod", e.unary("abs", x),
                        e.unary("abs", e.operand(op.getRhs())));
    Var isNegative = e.compare("less_than", x, e.scalarFor(x, 0));
    return e.alias(e.where(isNegative, e.scaled(rest, -1, 0), rest));
  }
  Var quotient = e.binary("elementwise_div", op.getLhs(), op.getRhs(), type);
  Var whole = e.binary("elementwise_mul", quotient, e.operand(op.getRhs()));
  return e.alias(e.binary("elementwise_sub", e.operand(op.getLhs()), whole));
}

/// atan(y / x), plus or minus pi if x is negative; by the signs if x is zero.
static LogicalResult writeAtan2(OperatorWriter &e, stablehlo::Atan2Op op) {
  if (!isa<FloatType>(elementOf(op)))
    return e.unsupported("of complex numbers");
  constexpr double pi = 3.14159265358979323846;
  Var y = e.operand(op.getLhs()), x = e.operand(op.getRhs());
  Var zero = e.scalarFor(x, 0);
  // 1, -1, or 0 if y is zero.
  Var side = e.unary("sign", y);
  Var slope = e.unary("atan", e.binary("elementwise_div", y, x));
  // pi if y is zero and x negative.
  Var isBelow = e.compare("less_than", y, zero);
  Var half = e.scaled(e.cast(isBelow, x.element()), -2 * pi, pi);
  Var turned = e.binary("elementwise_add", slope, half);
  Var general = e.where(e.compare("less_than", x, zero), turned, slope);
  return e.alias(
      e.where(e.compare("equal", x, zero), e.scaled(side, pi / 2, 0), general));
}

/// x - x is 0 for finite values and NaN for all others.
static LogicalResult writeIsFinite(OperatorWriter &e,
                                   stablehlo::IsFiniteOp op) {
  return e.result("isfinite_v2", {{"X", e.operand(op.getOperand())}});
}

//===----------------------------------------------------------------------===//
// Comparison, selection, conversion
//===----------------------------------------------------------------------===//

/// Whether values come before 0 in the total order, as -0 does: x < 0 or 1 / x
/// < 0. Paddle has no operator for the sign of a NaN.
static LogicalResult writeSignTest(OperatorWriter &e, stablehlo::CompareOp op) {
  if (op.getComparisonDirection() != stablehlo::ComparisonDirection::LT ||
      !isPositiveZero(op.getRhs()))
    return e.unsupported("in the total order of floats");
  Var x = e.operand(op.getLhs());
  Var zero = e.scalarFor(x, 0);
  Var isLess = e.compare("less_than", x, zero);
  return e.alias(
      e.binary("logical_or", isLess,
               e.compare("less_than", e.unary("reciprocal", x), zero)));
}

static LogicalResult writeCompare(OperatorWriter &e, stablehlo::CompareOp op) {
  using enum stablehlo::ComparisonDirection;
  if (!e.typeNumber(elementOf(op.getLhs())))
    return e.unsupported("of this element type");
  if (op.getCompareType() == stablehlo::ComparisonType::TOTALORDER)
    return writeSignTest(e, op);
  if (stablehlo::comparesOtherwise(op))
    return e.unsupported("of signless integers as unsigned ones");
  static const std::pair<stablehlo::ComparisonDirection, StringRef> names[] = {
      {EQ, "equal"},      {NE, "not_equal"},    {LT, "less_than"},
      {LE, "less_equal"}, {GT, "greater_than"}, {GE, "greater_equal"}};
  for (auto [direction, name] : names)
    if (direction == op.getComparisonDirection())
      return e.alias(
          e.binary(name, op.getLhs(), op.getRhs(), tensorOf(op.getResult())));
  return e.unsupported("of this kind");
}

static LogicalResult writeSelect(OperatorWriter &e, stablehlo::SelectOp op) {
  auto type = tensorOf(op.getResult());
  Var condition = e.operand(op.getPred()), yes = e.operand(op.getOnTrue());
  if (condition.rank() != type.getRank()) {
    // A scalar condition.
    condition = e.reshape(condition, Ints(type.getRank(), 1));
    condition = e.make("expand_as_v2", {{"X", condition}, {"Y", yes}},
                       {{"target_shape", dynamicShape(yes.shape())}},
                       e.typed(yes.shape(), e.boolean()));
  }
  return e.result("where", {{"Condition", condition},
                            {"X", yes},
                            {"Y", e.operand(op.getOnFalse())}});
}

static LogicalResult writeClamp(OperatorWriter &e, stablehlo::ClampOp op) {
  auto type = tensorOf(op.getResult());
  if (!e.typeNumber(type.getElementType()) || isBool(type.getElementType()))
    return e.unsupported("of this element type");
  auto low = finiteScalar(op.getMin()), high = finiteScalar(op.getMax());
  if (low && high)
    return e.result("clip", {{"X", e.operand(op.getOperand())}},
                    {{"min", *low}, {"max", *high}});
  auto bound = [&](Value value) {
    Var var = e.operand(value);
    return var.rank() == 0 && type.getRank() > 0 ? e.reshape(var, {1}) : var;
  };
  Var raised =
      e.make("elementwise_max",
             {{"X", e.operand(op.getOperand())}, {"Y", bound(op.getMin())}},
             {{"axis", -1}}, type);
  return e.result("elementwise_min", {{"X", raised}, {"Y", bound(op.getMax())}},
                  {{"axis", -1}});
}

static LogicalResult writeConvert(OperatorWriter &e, stablehlo::ConvertOp op) {
  auto from = e.typeNumber(elementOf(op.getOperand())),
       to = e.typeNumber(elementOf(op));
  if (!from || !to)
    return e.unsupported("between these element types");
  return e.result("cast", {{"X", e.operand(op.getOperand())}},
                  {{"in_dtype", *from}, {"out_dtype", *to}});
}

WriterRules elementwiseRules() {
  static const std::vector<WriterRule> rules = [] {
    std::vector<WriterRule> all = {
        writerRule<writeNegate>(),    writerRule<writeRoundEven>(),
        writerRule<writeRemainder>(), writerRule<writeAtan2>(),
        writerRule<writeIsFinite>(),  writerRule<writeCompare>(),
        writerRule<writeSelect>(),    writerRule<writeClamp>(),
        writerRule<writeConvert>()};
    for (const OneToOne &each : oneToOne)
      all.push_back({each.op, writeOneToOne});
    return all;
  }();
  return rules;
}

} // namespace sinter::paddle
