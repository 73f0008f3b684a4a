// Elementwise ops of stablehlo.

#include "formats/paddle/write/WriterRules.h"
#include "graph/Broadcast.h"
#include "graph/Constants.h"
#include "graph/stablehlo/StablehloOps.h"
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

/// A constant that is one number everywhere, as an attribute holds it: a finite
/// number of f32.
static std::optional<double> attributeNumber(Value value) {
  if (!isa<FloatType>(elementOf(value)))
    return std::nullopt;
  auto number = splatNumber(value);
  return number && std::isfinite(*number) &&
                 static_cast<double>(static_cast<float>(*number)) == *number
             ? number
             : std::nullopt;
}

/// x * number, x / number, x + number and x - number are operators of their
/// own.
static LogicalResult writeScale(OperatorWriter &e, mlir::Operation *op) {
  Value x = op->getOperand(0), y = op->getOperand(1);
  const bool multiplies = isa<stablehlo::MulOp>(op);
  const bool adds = isa<stablehlo::AddOp>(op);
  if ((multiplies || adds) && attributeNumber(x))
    std::swap(x, y);
  auto number = attributeNumber(y);
  // Half precision rounds differently there.
  if (!number || !(elementOf(x).isF32() || elementOf(x).isF64()) ||
      e.writer.isBroadcast(x.getDefiningOp()) ||
      x.getDefiningOp<stablehlo::ConstantOp>())
    return failure();
  const double bias = multiplies ? 0 : adds ? *number : -*number;
  return e.result("scale", {{"X", e.operand(x)}},
                  {{"scale", multiplies ? *number : 1.0},
                   {"bias", bias},
                   {"bias_after_scale", true}});
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
// Functions that Paddle spells out
//===----------------------------------------------------------------------===//

static LogicalResult writeNegate(OperatorWriter &e, stablehlo::NegOp op) {
  return e.result("scale", {{"X", e.operand(op.getOperand())}},
                  {{"scale", -1.0}, {"bias", 0.0}, {"bias_after_scale", true}});
}

/// Halfway between f and f + 1: the even one, 2 * floor((f + 1) / 2).
static LogicalResult writeRoundEven(OperatorWriter &e,
                                    stablehlo::RoundNearestEvenOp op) {
  Var x = e.operand(op.getOperand());
  Type element = x.element();
  Var floor = e.unary("floor", x);
  Var isHalf = e.compare("equal", e.binary("elementwise_sub", x, floor),
                         e.splat(element, 0.5, {1}));
  auto scaled = [&](const Var &value, double scale, double bias) {
    return e.unary(
        "scale", value,
        {{"scale", scale}, {"bias", bias}, {"bias_after_scale", true}});
  };
  Var even = scaled(e.unary("floor", scaled(floor, 0.5, 0.5)), 2, 0);
  return e.alias(e.where(isHalf, even, e.unary("round", x)));
}

/// x - (x / y) * y, where integers are divided towards zero.
static LogicalResult writeRemainder(OperatorWriter &e, stablehlo::RemOp op) {
  if (!isa<IntegerType>(elementOf(op)))
    return e.unsupported("of real numbers");
  auto type = tensorOf(op.getResult());
  Var quotient = e.binary("elementwise_div", op.getLhs(), op.getRhs(), type);
  Var whole = e.binary("elementwise_mul", quotient, e.operand(op.getRhs()));
  return e.alias(e.binary("elementwise_sub", e.operand(op.getLhs()), whole));
}

/// x - x is 0 for finite numbers and NaN for all others.
static LogicalResult writeIsFinite(OperatorWriter &e,
                                   stablehlo::IsFiniteOp op) {
  return e.result("isfinite_v2", {{"X", e.operand(op.getOperand())}});
}

//===----------------------------------------------------------------------===//
// Comparison, selection, conversion
//===----------------------------------------------------------------------===//

static LogicalResult writeCompare(OperatorWriter &e, stablehlo::CompareOp op) {
  using enum stablehlo::ComparisonDirection;
  if (!e.typeNumber(elementOf(op.getLhs())))
    return e.unsupported("of this element type");
  if (op.getCompareType() == stablehlo::ComparisonType::TOTALORDER)
    return e.unsupported("in the total order of floats");
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
  if (tensorOf(op.getPred()).getRank() != type.getRank())
    return e.unsupported("by one condition for all elements");
  return e.result("where", {{"Condition", e.operand(op.getPred())},
                            {"X", e.operand(op.getOnTrue())},
                            {"Y", e.operand(op.getOnFalse())}});
}

static LogicalResult writeClamp(OperatorWriter &e, stablehlo::ClampOp op) {
  auto type = tensorOf(op.getResult());
  if (!e.typeNumber(type.getElementType()) || isBool(type.getElementType()))
    return e.unsupported("of this element type");
  auto low = attributeNumber(op.getMin()), high = attributeNumber(op.getMax());
  if (low && high)
    return e.result("clip", {{"X", e.operand(op.getOperand())}},
                    {{"min", *low}, {"max", *high}});
  auto bound = [&](Value value) {
    Var var = e.operand(value);
    return var.rank() == 0 ? e.reshape(var, {1}) : var;
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
        writerRule<writeRemainder>(), writerRule<writeIsFinite>(),
        writerRule<writeCompare>(),   writerRule<writeSelect>(),
        writerRule<writeClamp>(),     writerRule<writeConvert>()};
    for (const OneToOne &each : oneToOne)
      all.push_back({each.op, writeOneToOne});
    return all;
  }();
  return rules;
}

} // namespace sinter::paddle
