// Arithmetic, comparisons and logic, element by element.

#include "formats/import/Building.h"
#include "formats/paddle/OperatorContext.h"
#include "formats/paddle/Operators.h"
#include <limits>

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::paddle {

//===----------------------------------------------------------------------===//
// Two operands
//===----------------------------------------------------------------------===//

/// X and Y aligned for NumPy's broadcasting. With attribute axis the one of
/// lower rank begins at that dimension of the other, without its trailing
/// dimensions of size 1.
static Values aligned(OperatorContext &op) {
  Value x = op.operand("X"), y = op.operand("Y");
  const int64_t axis = op.getInt("axis", -1);
  if (!x || !y || op.failed())
    return {};
  const bool isSwapped = op.rank(x) < op.rank(y);
  Value &smaller = isSwapped ? x : y;
  const int64_t rank = op.rank(isSwapped ? y : x);
  if (axis == -1 || op.rank(smaller) == rank)
    return {x, y};
  int64_t own = op.rank(smaller);
  while (own > 0 && op.size(smaller, own - 1) == 1)
    --own;
  if (axis < 0 || axis > rank - own)
    return op.fail("attribute 'axis' is " + Twine(axis) +
                   ", which does not fit tensors of " + Twine(rank) + " and " +
                   Twine(op.rank(smaller)) + " dimensions"),
           Values();
  Dims sizes = op.dims(smaller);
  sizes.resize(own, Dim(1));
  sizes.resize(rank - axis, Dim(1));
  smaller = op.reshape(smaller, ArrayRef<Dim>(sizes));
  return {x, y};
}

template <typename Op> static LogicalResult binary(OperatorContext &op) {
  Values both = aligned(op);
  return both.empty() ? failure()
                      : op.result("Out", op.binary<Op>(both[0], both[1]));
}

template <ComparisonDirection direction>
static LogicalResult comparison(OperatorContext &op) {
  Values both = aligned(op);
  return both.empty()
             ? failure()
             : op.result("Out", op.compare(both[0], both[1], direction));
}

/// Whether all elements of X and Y are equal.
static LogicalResult importEqualAll(OperatorContext &op) {
  Value equal =
      op.compare(op.operand("X"), op.operand("Y"), ComparisonDirection::EQ);
  if (!equal)
    return failure();
  Ints axes = llvm::to_vector(llvm::seq<int64_t>(0, op.rank(equal)));
  return op.result("Out", op.reduce<stablehlo::AndOp>(equal, axes, 1, false));
}

/// Whether the remainder is not 0 and has not the divisor's sign.
static Value wrongSign(OperatorContext &op, Value remainder, Value divisor) {
  Value zero = op.scalar(op.element(remainder), 0);
  Value differs = op.binary<stablehlo::XorOp>(
      op.compare(remainder, zero, ComparisonDirection::LT),
      op.compare(divisor, zero, ComparisonDirection::LT));
  return op.binary<stablehlo::AndOp>(
      differs, op.compare(remainder, zero, ComparisonDirection::NE));
}

/// The remainder has the divisor's sign, as in Python's %.
static LogicalResult importMod(OperatorContext &op) {
  Values both = aligned(op);
  if (both.empty())
    return failure();
  Value remainder = op.binary<stablehlo::RemOp>(both[0], both[1]);
  if (!remainder || op.isUnsigned(remainder))
    return op.result("Out", remainder);
  return op.result("Out",
                   select(op, wrongSign(op, remainder, both[1]),
                          op.binary<stablehlo::AddOp>(remainder, both[1]),
                          remainder));
}

/// Rounded down, as in Python's //.
static LogicalResult importFloorDivide(OperatorContext &op) {
  Values both = aligned(op);
  if (both.empty())
    return failure();
  Value quotient = op.binary<stablehlo::DivOp>(both[0], both[1]);
  if (!quotient || op.isUnsigned(quotient))
    return op.result("Out", quotient);
  if (op.isFloat(quotient))
    return op.result("Out", op.op<stablehlo::FloorOp>(quotient));
  Value remainder = op.binary<stablehlo::RemOp>(both[0], both[1]);
  Value less = op.binary<stablehlo::SubtractOp>(quotient, op.one(quotient, 1));
  return op.result(
      "Out", select(op, wrongSign(op, remainder, both[1]), less, quotient));
}

/// Maximum or minimum; the other operand if one is NaN.
template <typename Op> static LogicalResult ignoringNan(OperatorContext &op) {
  Values both = aligned(op);
  if (both.empty())
    return failure();
  Value result = op.binary<Op>(both[0], both[1]);
  if (!result || !op.isFloat(result))
    return op.result("Out", result);
  auto isNan = [&](Value x) {
    return op.compare(x, x, ComparisonDirection::NE);
  };
  result = select(op, isNan(both[1]), both[0], result);
  return op.result("Out", select(op, isNan(both[0]), both[1], result));
}

/// X to the power of FactorTensor or attribute `factor`.
static LogicalResult importPow(OperatorContext &op) {
  Value x = op.operand("X");
  if (!x)
    return failure();
  const double factor = op.getFloat("factor", 1);
  if (!op.has("FactorTensor") && factor == 1)
    return op.result("Out", x);
  if (!op.has("FactorTensor") && factor == 2)
    return op.result("Out", op.op<stablehlo::MulOp>(x, x));
  Value exponent = op.numberFrom("FactorTensor", "factor", 1, op.element(x));
  return op.result("Out", op.binary<stablehlo::PowOp>(x, exponent));
}

static LogicalResult importAtan2(OperatorContext &op) {
  return op.result(
      "Out", op.binary<stablehlo::Atan2Op>(op.operand("X1"), op.operand("X2")));
}

/// The sum of a list.
static LogicalResult importSum(OperatorContext &op) {
  Values all = op.operands("X");
  if (all.empty())
    return failure();
  Value sum = all.front();
  for (Value next : llvm::drop_begin(all))
    sum = op.binary<stablehlo::AddOp>(sum, next);
  return op.result("Out", sum);
}

static LogicalResult importWhere(OperatorContext &op) {
  Value condition = op.operand("Condition");
  return op.result("Out", select(op, op.cast(condition, op.i1()),
                                 op.operand("X"), op.operand("Y")));
}

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

template <typename Op> static LogicalResult unary(OperatorContext &op) {
  return op.result("Out", op.op<Op>(op.operand("X")));
}

/// A logarithm to another base.
static Value logarithm(OperatorContext &op, double naturalOfBase) {
  Value given = op.operand("X"), x = formats::widened(op, given);
  if (!x)
    return {};
  Value result = op.binary<stablehlo::DivOp>(op.op<stablehlo::LogOp>(x),
                                             op.one(x, naturalOfBase));
  return op.cast(result, op.element(given));
}
static LogicalResult importLog2(OperatorContext &op) {
  return op.result("Out", logarithm(op, std::log(2.0)));
}
static LogicalResult importLog10(OperatorContext &op) {
  return op.result("Out", logarithm(op, std::log(10.0)));
}

static LogicalResult importReciprocal(OperatorContext &op) {
  Value x = op.operand("X");
  return op.result("Out", op.binary<stablehlo::DivOp>(op.one(x, 1), x));
}
static LogicalResult importSquare(OperatorContext &op) {
  Value x = op.operand("X");
  return op.result("Out", op.op<stablehlo::MulOp>(x, x));
}
/// PIR calls the step `value`.
static LogicalResult importIncrement(OperatorContext &op) {
  Value x = op.operand("X");
  const double step =
      op.getFloat(op.hasAttribute("step") ? "step" : "value", 1);
  return op.result("Out", op.binary<stablehlo::AddOp>(x, op.one(x, step)));
}
/// Rounds towards zero.
static LogicalResult importTruncate(OperatorContext &op) {
  Value x = op.operand("X");
  if (!x || !op.isFloat(x))
    return op.result("Out", x);
  Value size = op.op<stablehlo::FloorOp>(op.op<stablehlo::AbsOp>(x));
  return op.result("Out",
                   op.op<stablehlo::MulOp>(op.op<stablehlo::SignOp>(x), size));
}
/// Rounds half away from zero.
static LogicalResult importRound(OperatorContext &op) {
  Value x = op.operand("X");
  const int64_t decimals = op.getInt("decimals", 0);
  if (decimals != 0)
    return op.unsupported("rounding to decimals");
  return op.result("Out", op.op<stablehlo::RoundOp>(x));
}

static LogicalResult importIsNan(OperatorContext &op) {
  Value x = op.operand("X");
  return op.result("Out", op.compare(x, x, ComparisonDirection::NE));
}
static LogicalResult importIsFinite(OperatorContext &op) {
  Value x = op.operand("X");
  if (!x)
    return failure();
  if (!op.isFloat(x))
    return op.result("Out", op.compare(x, x, ComparisonDirection::EQ));
  return op.result(
      "Out", op.typed<stablehlo::IsFiniteOp>(tensorOf(x).clone(op.i1()), x));
}
static LogicalResult importIsInf(OperatorContext &op) {
  Value x = op.operand("X");
  if (!x)
    return failure();
  if (!op.isFloat(x))
    return op.result("Out", op.compare(x, x, ComparisonDirection::NE));
  return op.result(
      "Out", op.compare(op.op<stablehlo::AbsOp>(x),
                        op.one(x, std::numeric_limits<double>::infinity()),
                        ComparisonDirection::EQ));
}

//===----------------------------------------------------------------------===//
// With scalars that may be tensors
//===----------------------------------------------------------------------===//

/// scale * x + bias, or scale * (x + bias).
static LogicalResult importScale(OperatorContext &op) {
  Value x = op.operand("X");
  if (!x)
    return failure();
  Type element = op.element(x);
  // Integers are scaled as floats, and the result is truncated.
  const bool isWhole =
      op.getFloat("scale", 1) == std::trunc(op.getFloat("scale", 1)) &&
      op.getFloat("bias", 0) == std::trunc(op.getFloat("bias", 0));
  if (!op.isFloat(x) && (!isWhole || op.has("ScaleTensor")))
    x = op.cast(x, op.builder().getF64Type());
  Value scale = op.numberFrom("ScaleTensor", "scale", 1, op.element(x));
  const double bias = op.getFloat("bias", 0);
  auto shift = [&](Value value) {
    return bias == 0 ? value
                     : op.binary<stablehlo::AddOp>(value, op.one(x, bias));
  };
  const bool isLast = op.getBool("bias_after_scale", true);
  Value before = isLast ? x : shift(x);
  const bool isOne = !op.has("ScaleTensor") && op.getFloat("scale", 1) == 1;
  Value scaled = isOne ? before : op.binary<stablehlo::MulOp>(before, scale);
  return op.result("Out", op.cast(isLast ? shift(scaled) : scaled, element));
}

static LogicalResult importClip(OperatorContext &op) {
  Value x = op.operand("X");
  if (!x)
    return failure();
  Type element = op.element(x);
  auto number = [&](StringRef slot, StringRef name) {
    return op.numberFrom(slot, name, 0, element);
  };
  const bool hasMin = op.has("Min") || op.hasAttribute("min"),
             hasMax = op.has("Max") || op.hasAttribute("max");
  if (hasMin && hasMax)
    return op.result("Out", op.op<stablehlo::ClampOp>(number("Min", "min"), x,
                                                      number("Max", "max")));
  Value result = x;
  if (hasMin)
    result = op.binary<stablehlo::MaxOp>(result, number("Min", "min"));
  if (hasMax)
    result = op.binary<stablehlo::MinOp>(result, number("Max", "max"));
  return op.result("Out", result);
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

OperatorReaders elementwiseReaders() {
  using namespace stablehlo;
  using enum ComparisonDirection;
  static const OperatorReader table[] = {
      {"abs", unary<AbsOp>},
      {"acos", unary<nn::AcosOp>},
      {"acosh", unary<nn::AcoshOp>},
      {"asin", unary<nn::AsinOp>},
      {"asinh", unary<nn::AsinhOp>},
      {"atan", unary<nn::AtanOp>},
      {"atan2", importAtan2},
      {"atanh", unary<nn::AtanhOp>},
      {"bitwise_and", binary<AndOp>},
      {"bitwise_not", unary<NotOp>},
      {"bitwise_or", binary<OrOp>},
      {"bitwise_xor", binary<XorOp>},
      {"ceil", unary<CeilOp>},
      {"clip", importClip},
      {"cos", unary<CosineOp>},
      {"cosh", unary<nn::CoshOp>},
      {"elementwise_add", binary<AddOp>},
      {"elementwise_div", binary<DivOp>},
      {"elementwise_floordiv", importFloorDivide},
      {"elementwise_fmax", ignoringNan<MaxOp>},
      {"elementwise_fmin", ignoringNan<MinOp>},
      {"elementwise_max", binary<MaxOp>},
      {"elementwise_min", binary<MinOp>},
      {"elementwise_mod", importMod},
      {"elementwise_mul", binary<MulOp>},
      {"elementwise_pow", binary<PowOp>},
      {"elementwise_sub", binary<SubtractOp>},
      {"equal", comparison<EQ>},
      {"equal_all", importEqualAll},
      {"erf", unary<nn::ErfOp>},
      {"exp", unary<ExpOp>},
      {"expm1", unary<Expm1Op>},
      {"floor", unary<FloorOp>},
      {"grad_add", binary<AddOp>},
      {"greater_equal", comparison<GE>},
      {"greater_than", comparison<GT>},
      {"increment", importIncrement},
      {"isfinite_v2", importIsFinite},
      {"isinf_v2", importIsInf},
      {"isnan_v2", importIsNan},
      {"less_equal", comparison<LE>},
      {"less_than", comparison<LT>},
      {"log", unary<LogOp>},
      {"log10", importLog10},
      {"log1p", unary<Log1pOp>},
      {"log2", importLog2},
      {"logical_and", binary<AndOp>},
      {"logical_not", unary<NotOp>},
      {"logical_or", binary<OrOp>},
      {"logical_xor", binary<XorOp>},
      {"minus", binary<SubtractOp>},
      {"not_equal", comparison<NE>},
      {"pow", importPow},
      {"reciprocal", importReciprocal},
      {"round", importRound},
      {"rsqrt", unary<RsqrtOp>},
      {"scale", importScale},
      {"sign", unary<SignOp>},
      {"sin", unary<SineOp>},
      {"sinh", unary<nn::SinhOp>},
      {"sqrt", unary<SqrtOp>},
      {"square", importSquare},
      {"sum", importSum},
      {"tan", unary<TanOp>},
      {"trunc", importTruncate},
      {"where", importWhere},
  };
  return table;
}

} // namespace sinter::paddle
