#include "graph/Broadcast.h"
#include "graph/stablehlo/StablehloOps.h"
#include "passes/Identities.h"
#include "passes/Matching.h"
#include "passes/RuleTables.h"
#include <cmath>

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

/// Whether a double represents every value of the type.
static bool fitsDouble(Value value) {
  Type element = tensorOf(value).getElementType();
  auto integer = dyn_cast<IntegerType>(element);
  return isa<FloatType>(element) || (integer && integer.getWidth() <= 32);
}

/// max(max(x, 2), 5) -> max(x, 5).
template <typename Op> static Value nestedExtremum(Op op, OpBuilder &builder) {
  auto inner = op.getLhs().template getDefiningOp<Op>();
  if (!inner || op.getType() != inner.getType() || !fitsDouble(op))
    return {};
  std::optional<double> outer = splatValue(op.getRhs());
  std::optional<double> bound = splatValue(inner.getRhs());
  if (!outer || !bound || std::isnan(*outer) || std::isnan(*bound))
    return {};
  bool outerWins =
      std::is_same_v<Op, MaxOp> ? *outer >= *bound : *outer <= *bound;
  return builder.create<Op>(op.getLoc(), op.getType(), inner.getLhs(),
                            outerWins ? op.getRhs() : inner.getRhs());
}

static Value selectConstant(SelectOp op, OpBuilder &) {
  std::optional<double> pred = splatValue(op.getPred());
  if (!pred)
    return {};
  return *pred != 0 ? op.getOnTrue() : op.getOnFalse();
}

/// A select with a predicate that is negated and then broadcast.
static Value selectBroadcastNot(SelectOp op, OpBuilder &builder) {
  std::optional<Broadcast> broadcast = Broadcast::of(op.getPred());
  auto inner = broadcast ? broadcast->operand.getDefiningOp<NotOp>() : NotOp();
  if (!inner)
    return {};
  Value pred =
      broadcast->rebuild(builder, broadcast->op->getLoc(), inner.getOperand());
  return builder.create<SelectOp>(op.getLoc(), op.getType(), pred,
                                  op.getOnFalse(), op.getOnTrue());
}

static Value compareSameAs(CompareOp op, OpBuilder &builder) {
  auto type = tensorOf(op);
  if (op.getLhs() != op.getRhs())
    return {};
  bool holds =
      llvm::is_contained({ComparisonDirection::EQ, ComparisonDirection::GE,
                          ComparisonDirection::LE},
                         op.getComparisonDirection());
  return splatLike(builder, op.getLoc(), type, holds ? -1 : 0, op.getLhs());
}
/// Only integers: NaN is not equal to itself.
static Value compareSame(CompareOp op, OpBuilder &builder) {
  return isIntegerTensor(op.getLhs()) ? compareSameAs(op, builder) : Value();
}
static Value compareSameFloat(CompareOp op, OpBuilder &builder) {
  return isFloatTensor(op.getLhs()) ? compareSameAs(op, builder) : Value();
}

/// A boolean that was converted to a number and compared with zero.
static Value compareConverted(CompareOp op, OpBuilder &builder) {
  auto convert = op.getLhs().getDefiningOp<ConvertOp>();
  std::optional<double> other = splatValue(op.getRhs());
  bool isEqual = op.getComparisonDirection() == ComparisonDirection::EQ;
  if (!convert || !other || (*other != 0 && *other != 1) ||
      !tensorOf(convert.getOperand()).getElementType().isInteger(1) ||
      (!isEqual && op.getComparisonDirection() != ComparisonDirection::NE))
    return {};
  if (isEqual == (*other == 1))
    return convert.getOperand();
  return builder.create<NotOp>(op.getLoc(), convert.getOperand());
}

/// The bounds of a clamp, if they are constants in order.
static std::optional<std::pair<double, double>> bounds(ClampOp op) {
  std::optional<double> low = splatValue(op.getMin());
  std::optional<double> high = splatValue(op.getMax());
  if (!low || !high || !(*low <= *high))
    return std::nullopt;
  return std::pair(*low, *high);
}
/// clamp(c, min(max(x, a), b), d) is clamp of x to a and b, each clamped to
/// [c, d].
static Value clampClamp(ClampOp op, OpBuilder &builder) {
  auto inner = op.getOperand().getDefiningOp<ClampOp>();
  auto within = inner ? bounds(inner) : std::nullopt;
  auto outer = bounds(op);
  if (!within || !outer || !fitsDouble(op) ||
      inner.getOperand().getType() != op.getType())
    return {};
  auto scalar = RankedTensorType::get({}, tensorOf(op).getElementType());
  auto bound = [&](double number) {
    number = std::min(std::max(number, outer->first), outer->second);
    return makeSplat(builder, op.getLoc(), scalar, number);
  };
  return builder.create<ClampOp>(op.getLoc(), op.getType(),
                                 bound(within->first), inner.getOperand(),
                                 bound(within->second));
}
static Value clampNothing(ClampOp op, OpBuilder &) {
  auto limits = bounds(op);
  double infinity = std::numeric_limits<double>::infinity();
  if (!limits || !isFloatTensor(op) || limits->first != -infinity ||
      limits->second != infinity)
    return {};
  return op.getOperand();
}

/// (x + 3) == 5 -> x == 2, in two's complement.
static Value compareShifted(CompareOp op, OpBuilder &builder) {
  auto sum = op.getLhs().getDefiningOp<AddOp>();
  auto type = dyn_cast<IntegerType>(tensorOf(op.getLhs()).getElementType());
  bool isEquality = op.getComparisonDirection() == ComparisonDirection::EQ ||
                    op.getComparisonDirection() == ComparisonDirection::NE;
  if (!sum || !type || type.getWidth() == 1 || !isEquality)
    return {};
  Value constant = sum.getRhs(), x = sum.getLhs();
  if (!integerSplat(constant))
    std::swap(constant, x);
  if (!integerSplat(constant) || !integerSplat(op.getRhs()) || integerSplat(x))
    return {};
  Value rest = builder.create<SubtractOp>(op.getLoc(), op.getRhs(), constant);
  return builder.create<CompareOp>(op.getLoc(), op.getType(), x, rest,
                                   op.getComparisonDirection(),
                                   op.getCompareTypeAttr());
}

static constexpr Identity logicIdentities[] = {
    // Bits
    {"and-same", "and(x, x) -> x"},
    {"and-zero", "and(x, 0) -> 0"},
    {"and-ones", "and(x, ones) -> x"},
    {"and-not", "and(x, not(x)) -> 0"},
    {"and-or", "and(x, or(x, y)) -> x"},
    {"and-nots", "and(not!(x), not!(y)) -> not(or(x, y))"},
    {"or-same", "or(x, x) -> x"},
    {"or-zero", "or(x, 0) -> x"},
    {"or-ones", "or(x, ones) -> ones"},
    {"or-not", "or(x, not(x)) -> ones"},
    {"or-and", "or(x, and(x, y)) -> x"},
    {"or-nots", "or(not!(x), not!(y)) -> not(and(x, y))"},
    {"xor-same", "xor(x, x) -> 0"},
    {"xor-zero", "xor(x, 0) -> x"},
    {"xor-ones", "xor(x, ones) -> not(x)"},
    {"xor-not", "xor(not(x), not(y)) -> xor(x, y)"},
    {"not-not", "not(not(x)) -> x"},
    {"shift-left-zero", "shift_left(x, 0) -> x"},
    {"shift-right-zero", "shift_right_logical(x, 0) -> x"},
    {"shift-right-zero", "shift_right_arithmetic(x, 0) -> x"},
    {"and-constants", "and(and(v, c), d) -> and(v, and(c, d))"},
    {"or-constants", "or(or(v, c), d) -> or(v, or(c, d))"},
    {"xor-constants", "xor(xor(v, c), d) -> xor(v, xor(c, d))"},
    {"constant-right", "and(c, v) -> and(v, c)", For::Any, exact, true},
    {"constant-right", "or(c, v) -> or(v, c)", For::Any, exact, true},
    {"constant-right", "xor(c, v) -> xor(v, c)", For::Any, exact, true},

    // Comparisons. For floats only equality can be negated: every ordered
    // comparison with NaN is false.
    {"not-equal", "not(compare_EQ!(x, y)) -> compare_NE(x, y)"},
    {"not-equal", "not(compare_NE!(x, y)) -> compare_EQ(x, y)"},
    {"not-less", "not(compare_LT!(x, y)) -> compare_GE(x, y)", For::Integers},
    {"not-less", "not(compare_LE!(x, y)) -> compare_GT(x, y)", For::Integers},
    {"not-less", "not(compare_GT!(x, y)) -> compare_LE(x, y)", For::Integers},
    {"not-less", "not(compare_GE!(x, y)) -> compare_LT(x, y)", For::Integers},
    {"compare-constant-right", "compare_LT(c, v) -> compare_GT(v, c)", For::Any,
     exact, true},
    {"compare-constant-right", "compare_LE(c, v) -> compare_GE(v, c)", For::Any,
     exact, true},
    {"compare-constant-right", "compare_GT(c, v) -> compare_LT(v, c)", For::Any,
     exact, true},
    {"compare-constant-right", "compare_GE(c, v) -> compare_LE(v, c)", For::Any,
     exact, true},
    {"compare-constant-right", "compare_EQ(c, v) -> compare_EQ(v, c)", For::Any,
     exact, true},
    {"compare-constant-right", "compare_NE(c, v) -> compare_NE(v, c)", For::Any,
     exact, true},
    {"compare-truth", "compare_NE(p, 0) -> p", For::Booleans},
    {"compare-truth", "compare_EQ(p, ones) -> p", For::Booleans},
    {"compare-truth", "compare_EQ(p, 0) -> not(p)", For::Booleans},
    {"compare-truth", "compare_NE(p, ones) -> not(p)", For::Booleans},
    {"compare-unsigned-zero", "compare_LT(x, 0) -> 0", For::Unsigned},
    {"compare-unsigned-zero", "compare_GE(x, 0) -> ones", For::Unsigned},

    // Selects
    {"select-same", "select(p, x, x) -> x"},
    {"select-not", "select(not(p), x, y) -> select(p, y, x)"},
    {"select-truth", "select(p, ones, 0) -> p", For::Booleans},
    {"select-truth", "select(p, 0, ones) -> not(p)", For::Booleans},
    {"select-and", "select(p, x, 0) -> and(p, x)", For::Booleans},
    {"select-or", "select(p, ones, x) -> or(p, x)", For::Booleans},
    {"select-select", "select(p, select(p, x, y), z) -> select(p, x, z)"},
    {"select-select", "select(p, x, select(p, y, z)) -> select(p, x, z)"},
    {"select-max", "select(compare_GT(x, y), x, y) -> maximum(x, y)",
     For::Integers},
    {"select-max", "select(compare_GE(x, y), x, y) -> maximum(x, y)",
     For::Integers},
    {"select-max", "select(compare_LT(x, y), y, x) -> maximum(x, y)",
     For::Integers},
    {"select-max", "select(compare_LE(x, y), y, x) -> maximum(x, y)",
     For::Integers},
    {"select-min", "select(compare_LT(x, y), x, y) -> minimum(x, y)",
     For::Integers},
    {"select-min", "select(compare_LE(x, y), x, y) -> minimum(x, y)",
     For::Integers},
    {"select-min", "select(compare_GT(x, y), y, x) -> minimum(x, y)",
     For::Integers},
    {"select-min", "select(compare_GE(x, y), y, x) -> minimum(x, y)",
     For::Integers},
    {"select-max-relaxed", "select(compare_GT(x, y), x, y) -> maximum(x, y)",
     For::Floats, noNan | noSignedZero},
    {"select-max-relaxed", "select(compare_GE(x, y), x, y) -> maximum(x, y)",
     For::Floats, noNan | noSignedZero},
    {"select-min-relaxed", "select(compare_LT(x, y), x, y) -> minimum(x, y)",
     For::Floats, noNan | noSignedZero},
    {"select-min-relaxed", "select(compare_LE(x, y), x, y) -> minimum(x, y)",
     For::Floats, noNan | noSignedZero},
    {"select-abs", "select(compare_GT(x, 0), x, negate(x)) -> abs(x)",
     For::Signed},
    {"select-abs", "select(compare_GE(x, 0), x, negate(x)) -> abs(x)",
     For::Signed},
    {"select-abs", "select(compare_LT(x, 0), negate(x), x) -> abs(x)",
     For::Signed},
    {"select-abs", "select(compare_LE(x, 0), negate(x), x) -> abs(x)",
     For::Signed},
    {"select-abs-relaxed", "select(compare_GT(x, 0), x, negate(x)) -> abs(x)",
     For::Floats, noSignedZero},
    {"select-abs-relaxed", "select(compare_GE(x, 0), x, negate(x)) -> abs(x)",
     For::Floats, noSignedZero},
    {"select-abs-relaxed", "select(compare_LT(x, 0), negate(x), x) -> abs(x)",
     For::Floats, noSignedZero},
    {"select-abs-relaxed", "select(compare_LE(x, 0), negate(x), x) -> abs(x)",
     For::Floats, noSignedZero},

    // Minimum and maximum
    {"max-same", "maximum(x, x) -> x"},
    {"min-same", "minimum(x, x) -> x"},
    {"max-least", "maximum(x, least) -> x", For::Integers},
    {"max-least", "maximum(x, -inf) -> x", For::Floats},
    {"min-greatest", "minimum(x, greatest) -> x", For::Integers},
    {"min-greatest", "minimum(x, inf) -> x", For::Floats},
    {"max-greatest", "maximum(x, greatest) -> greatest", For::Integers},
    {"min-least", "minimum(x, least) -> least", For::Integers},
    {"max-negate", "maximum(x, negate(x)) -> abs(x)", For::SignedOrFloats},
    {"max-min", "maximum(x, minimum(x, y)) -> x", For::Integers},
    {"min-max", "minimum(x, maximum(x, y)) -> x", For::Integers},
    {"constant-right", "maximum(c, v) -> maximum(v, c)", For::Any, exact, true},
    {"constant-right", "minimum(c, v) -> minimum(v, c)", For::Any, exact, true},
    {"clamp-one-value", "clamp(x, y, x) -> x", For::Integers},
};

RuleTable logicRules() {
  static const std::vector<RewriteRule> rules = [] {
    std::vector<RewriteRule> all = rulesOf(logicIdentities);
    all.insert(
        all.end(),
        {rule<MaxOp, nestedExtremum<MaxOp>>("max-max",
                                            "max(max(x, 2), 5) -> max(x, 5)"),
         rule<MinOp, nestedExtremum<MinOp>>("min-min",
                                            "min(min(x, 5), 2) -> min(x, 2)"),
         rule<ClampOp, clampClamp>(
             "clamp-clamp", "clamp(0, clamp(-1, x, 4), 6) -> clamp(0, x, 4)"),
         rule<ClampOp, clampNothing>("clamp-nothing",
                                     "clamp(-inf, x, inf) -> x"),
         rule<SelectOp, selectConstant>("select-constant", "true ? x : y -> x"),
         rule<SelectOp, selectBroadcastNot>(
             "select-broadcast-not",
             "broadcast(~p) ? x : y -> broadcast(p) ? y : x"),
         rule<CompareOp, compareSame>("compare-same",
                                      "x == x -> true, integers only"),
         rule<CompareOp, compareSameFloat>("compare-same-relaxed",
                                           "x == x -> true", noNan),
         rule<CompareOp, compareConverted>("compare-converted",
                                           "i32(p : i1) != 0 -> p"),
         rule<CompareOp, compareShifted>("compare-shifted",
                                         "x + 3 == 5 -> x == 2, integers")});
    return all;
  }();
  return {"Truth, bits, comparisons, choices", rules};
}

} // namespace sinter
