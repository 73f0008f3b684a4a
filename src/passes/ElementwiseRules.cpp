#include "graph/nn/NnOps.h"
#include "passes/AlgebraRules.h"
#include "passes/Groups.h"
#include "passes/Matching.h"
#include <cmath>

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

static bool isNumber(Value value, double number) {
  std::optional<double> splat = splatValue(value);
  return splat && *splat == number &&
         std::signbit(*splat) == std::signbit(number);
}

/// `op(x, number)`, or `op(number, x)` too where the operation commutes: x.
template <typename Op>
static Value besideNumber(Op op, double number, bool commutes) {
  if (isNumber(op.getRhs(), number))
    return op.getLhs();
  if (commutes && isNumber(op.getLhs(), number))
    return op.getRhs();
  return {};
}

/// The number that leaves a sum as it is: 0, or -0.0 for floats, since
/// -0.0 + 0.0 is 0.0.
static Value addZero(AddOp op, OpBuilder &) {
  return besideNumber(op, isFloatTensor(op) ? -0.0 : 0.0, true);
}
static Value addZeroRelaxed(AddOp op, OpBuilder &) {
  return isFloatTensor(op) ? besideNumber(op, 0.0, true) : Value();
}
static Value multiplyZero(MulOp op, OpBuilder &) {
  if (!isIntegerTensor(op))
    return {};
  for (Value operand : op->getOperands())
    if (isNumber(operand, 0))
      return operand;
  return {};
}

static Value powerOne(PowOp op, OpBuilder &) {
  return besideNumber(op, 1, false);
}
static Value powerSquare(PowOp op, OpBuilder &builder) {
  if (!isFloatTensor(op) || !isNumber(op.getRhs(), 2))
    return {};
  return builder.create<MulOp>(op.getLoc(), op.getType(), op.getLhs(),
                               op.getLhs());
}

/// The inner operand of op(op(x)).
template <typename Op> static Value innerOperand(Op op) {
  auto inner = op.getOperand().template getDefiningOp<Op>();
  return inner ? Value(inner.getOperand()) : Value();
}

/// op(op(x)) -> op(x): the operand.
template <typename Op> static Value idempotent(Op op, OpBuilder &) {
  return innerOperand(op) ? Value(op.getOperand()) : Value();
}

/// op(x, x) -> x.
template <typename Op> static Value ofItself(Op op, OpBuilder &) {
  return op.getLhs() == op.getRhs() ? Value(op.getLhs()) : Value();
}

/// Whether a double holds every number of the type.
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
static Value selectSame(SelectOp op, OpBuilder &) {
  return op.getOnTrue() == op.getOnFalse() ? Value(op.getOnTrue()) : Value();
}

/// Only integers: NaN is not equal to itself.
static Value compareSame(CompareOp op, OpBuilder &builder) {
  auto type = tensorOf(op);
  if (op.getLhs() != op.getRhs() || !isIntegerTensor(op.getLhs()) ||
      !type.hasStaticShape())
    return {};
  bool holds =
      llvm::is_contained({ComparisonDirection::EQ, ComparisonDirection::GE,
                          ComparisonDirection::LE},
                         op.getComparisonDirection());
  return makeSplat(builder, op.getLoc(), type, holds ? -1 : 0);
}

static Value convertSame(ConvertOp op, OpBuilder &) {
  return op.getOperand().getType() == op.getType() ? Value(op.getOperand())
                                                   : Value();
}
/// Where the first conversion loses nothing, the second may start from the
/// original.
static Value convertConvert(ConvertOp op, OpBuilder &builder) {
  auto inner = op.getOperand().getDefiningOp<ConvertOp>();
  if (!inner)
    return {};
  Type first = tensorOf(inner.getOperand()).getElementType();
  Type last = tensorOf(op).getElementType();
  if (!convertsLosslessly(first, tensorOf(inner).getElementType()))
    return {};
  if (first == last && inner.getOperand().getType() == op.getType())
    return inner.getOperand();
  bool bothFloat = isa<FloatType>(first) && isa<FloatType>(last);
  if (first == last || !(bothFloat || convertsLosslessly(first, last)))
    return {};
  return builder.create<ConvertOp>(op.getLoc(), op.getType(),
                                   inner.getOperand());
}

/// Values that max(x, 0) leaves as they are.
static bool isNeverNegative(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (auto clamp = dyn_cast<ClampOp>(op)) {
    std::optional<double> low = splatValue(clamp.getMin());
    std::optional<double> high = splatValue(clamp.getMax());
    return low && high && *low >= 0 && *high >= *low;
  }
  return isa<nn::ReluOp, LogisticOp, ExpOp, AbsOp, nn::SoftmaxOp,
             nn::HardSigmoidOp>(op);
}
static Value reluNonnegative(nn::ReluOp op, OpBuilder &) {
  return isNeverNegative(op.getOperand()) ? Value(op.getOperand()) : Value();
}

/// The bounds of a clamp, if they are numbers in order.
static std::optional<std::pair<double, double>> bounds(ClampOp op) {
  std::optional<double> low = splatValue(op.getMin());
  std::optional<double> high = splatValue(op.getMax());
  if (!low || !high || !(*low <= *high))
    return std::nullopt;
  return std::pair(*low, *high);
}
/// clamp(c, min(max(x, a), b), d) is clamp of x to a and b, each clamped to
/// [c, d].
static Value clampAgain(ClampOp op, Value operand, double low, double high,
                        OpBuilder &builder) {
  auto outer = bounds(op);
  if (!outer || !fitsDouble(op) || operand.getType() != op.getType())
    return {};
  auto scalar = RankedTensorType::get({}, tensorOf(op).getElementType());
  auto bound = [&](double number) {
    number = std::min(std::max(number, outer->first), outer->second);
    return makeSplat(builder, op.getLoc(), scalar, number);
  };
  return builder.create<ClampOp>(op.getLoc(), op.getType(), bound(low), operand,
                                 bound(high));
}
static Value clampClamp(ClampOp op, OpBuilder &builder) {
  auto inner = op.getOperand().getDefiningOp<ClampOp>();
  if (!inner)
    return {};
  auto limits = bounds(inner);
  return limits ? clampAgain(op, inner.getOperand(), limits->first,
                             limits->second, builder)
                : Value();
}
static Value clampRelu(ClampOp op, OpBuilder &builder) {
  auto inner = op.getOperand().getDefiningOp<nn::ReluOp>();
  if (!inner || !isFloatTensor(op))
    return {};
  return clampAgain(op, inner.getOperand(), 0,
                    std::numeric_limits<double>::infinity(), builder);
}

/// x / c -> x * (1 / c) where 1 / c is a power of two and a normal number of
/// every type down to f16: the same bits, and cheaper.
/// A division that came from a file's node stays, so that the node (a mean,
/// say) can be written back.
static Value dividePowerOfTwo(DivOp op, OpBuilder &builder) {
  if (op->hasAttr(groupAttribute))
    return {};
  std::optional<double> divisor = splatValue(op.getRhs());
  auto type = tensorOf(op.getRhs());
  Type element = type.getElementType();
  if (!divisor || *divisor == 1 || !type.hasStaticShape() ||
      !(element.isF16() || element.isBF16() || element.isF32() ||
        element.isF64()))
    return {};
  int exponent = 0;
  if (std::abs(std::frexp(*divisor, &exponent)) != 0.5 || exponent < -12 ||
      exponent > 12)
    return {};
  Value factor = makeSplat(builder, op.getLoc(), type, 1 / *divisor);
  return builder.create<MulOp>(op.getLoc(), op.getType(), op.getLhs(), factor);
}

static Value subtractZero(SubtractOp op, OpBuilder &) {
  return besideNumber(op, 0.0, false);
}
static Value multiplyOne(MulOp op, OpBuilder &) {
  return besideNumber(op, 1, true);
}
static Value divideOne(DivOp op, OpBuilder &) {
  return besideNumber(op, 1, false);
}
template <typename Op> static Value bitsZero(Op op, OpBuilder &) {
  return besideNumber(op, 0, true);
}
/// The operation undoes itself.
template <typename Op> static Value involution(Op op, OpBuilder &) {
  return innerOperand(op);
}

ArrayRef<Rule> elementwiseRules() {
  static const Rule rules[] = {
      rule<AddOp, addZero>("add-zero", "x + 0 -> x (floats: x + -0.0)"),
      rule<AddOp, addZeroRelaxed>("add-zero-relaxed",
                                  "x + 0.0 -> x, which keeps -0.0",
                                  /*byDefault=*/false),
      rule<SubtractOp, subtractZero>("subtract-zero", "x - 0 -> x"),
      rule<MulOp, multiplyOne>("multiply-one", "x * 1 -> x"),
      rule<MulOp, multiplyZero>("multiply-zero", "x * 0 -> 0, integers only"),
      rule<DivOp, divideOne>("divide-one", "x / 1 -> x"),
      rule<DivOp, dividePowerOfTwo>("divide-power-of-two",
                                    "x / 8.0 -> x * 0.125, exactly"),
      rule<PowOp, powerOne>("power-one", "pow(x, 1) -> x"),
      rule<PowOp, powerSquare>("power-square",
                               "pow(x, 2.0) -> x * x, correctly rounded"),
      rule<NegOp, involution>("negate-negate", "-(-x) -> x"),
      rule<NotOp, involution>("not-not", "~~x -> x"),
      rule<AbsOp, idempotent>("abs-abs", "|(|x|)| -> |x|"),
      rule<FloorOp, idempotent>("floor-floor", "floor(floor(x)) -> floor(x)"),
      rule<CeilOp, idempotent>("ceil-ceil", "ceil(ceil(x)) -> ceil(x)"),
      rule<AndOp, ofItself>("and-same", "x & x -> x"),
      rule<OrOp, ofItself>("or-same", "x | x -> x"),
      rule<OrOp, bitsZero>("or-zero", "x | 0 -> x"),
      rule<XorOp, bitsZero>("xor-zero", "x ^ 0 -> x"),
      rule<MaxOp, ofItself>("max-same", "max(x, x) -> x"),
      rule<MinOp, ofItself>("min-same", "min(x, x) -> x"),
      rule<MaxOp, nestedExtremum>("max-max", "max(max(x, 2), 5) -> max(x, 5)"),
      rule<MinOp, nestedExtremum>("min-min", "min(min(x, 5), 2) -> min(x, 2)"),
      rule<SelectOp, selectConstant>("select-constant", "true ? x : y -> x"),
      rule<SelectOp, selectSame>("select-same", "c ? x : x -> x"),
      rule<CompareOp, compareSame>("compare-same",
                                   "x == x -> true, integers only"),
      rule<ConvertOp, convertSame>("convert-same", "f32(x : f32) -> x"),
      rule<ConvertOp, convertConvert>("convert-convert",
                                      "f16(f32(x : f16)) -> x, if lossless"),
      rule<nn::ReluOp, reluNonnegative>("relu-nonnegative",
                                        "relu(relu(x)) -> relu(x)"),
      rule<ClampOp, clampClamp>(
          "clamp-clamp", "clamp(0, clamp(-1, x, 4), 6) -> clamp(0, x, 4)"),
      rule<ClampOp, clampRelu>("clamp-relu",
                               "clamp(-1, relu(x), 6) -> clamp(0, x, 6)"),
  };
  return rules;
}

} // namespace sinter
