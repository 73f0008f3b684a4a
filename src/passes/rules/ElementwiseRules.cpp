#include "graph/Broadcast.h"
#include "graph/nn/NnOps.h"
#include "passes/Groups.h"
#include "passes/Identities.h"
#include "passes/Matching.h"
#include "passes/RuleTables.h"
#include <cmath>

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

/// Whether max(value, 0) is \p value.
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

/// clamp(c, max(x, 0), d) is clamp(max(c, 0), x, d), if d is not negative: else
/// it is d.
static Value clampRelu(ClampOp op, OpBuilder &builder) {
  auto inner = op.getOperand().getDefiningOp<nn::ReluOp>();
  std::optional<double> low = splatValue(op.getMin());
  std::optional<double> high = splatValue(op.getMax());
  if (!inner || !low || !high || !(*low <= *high) || *high < 0 ||
      !isFloatTensor(op) || inner.getOperand().getType() != op.getType())
    return {};
  auto scalar = RankedTensorType::get({}, tensorOf(op).getElementType());
  auto bound = [&](double number) {
    return makeSplat(builder, op.getLoc(), scalar, std::max(number, 0.0));
  };
  return builder.create<ClampOp>(op.getLoc(), op.getType(), bound(*low),
                                 inner.getOperand(), bound(*high));
}

/// x / c -> x * (1 / c) where 1 / c is a power of two and a normal number of
/// every type down to f16: the same bits, and cheaper. A division that came
/// from a file's node stays, so that the node (such as a mean) can be exported.
static Value dividePowerOfTwo(DivOp op, OpBuilder &builder) {
  if (sourceOf(op))
    return {};
  std::optional<double> divisor = splatValue(op.getRhs());
  auto type = tensorOf(op.getRhs());
  Type element = type.getElementType();
  if (!divisor || *divisor == 1 ||
      !(element.isF16() || element.isBF16() || element.isF32() ||
        element.isF64()))
    return {};
  int exponent = 0;
  if (std::abs(std::frexp(*divisor, &exponent)) != 0.5 || exponent < -12 ||
      exponent > 12)
    return {};
  Value factor =
      splatLike(builder, op.getLoc(), type, 1 / *divisor, op.getLhs());
  return builder.create<MulOp>(op.getLoc(), op.getType(), op.getLhs(), factor);
}

static constexpr unsigned ordinary = noNan | noInfinity | noSignedZero;

static constexpr Identity elementwiseIdentities[] = {
    // Additions. The neutral element of floats is -0.0: -0.0 + 0.0 is 0.0.
    {"add-zero", "add(x, 0) -> x", For::Integers},
    {"add-zero", "add(x, -0.0) -> x", For::Floats},
    {"add-zero-relaxed", "add(x, 0.0) -> x", For::Floats, noSignedZero},
    {"add-negate", "add(x, negate(y)) -> subtract(x, y)"},
    {"add-subtract", "add(subtract(x, y), y) -> x", For::Integers},
    {"add-subtract-relaxed", "add(subtract(x, y), y) -> x", For::Floats,
     reassociate | ordinary},
    {"subtract-zero", "subtract(x, 0) -> x"},
    {"subtract-same", "subtract(x, x) -> 0", For::Integers},
    {"subtract-same-relaxed", "subtract(x, x) -> 0", For::Floats,
     noNan | noInfinity},
    {"subtract-negate", "subtract(x, negate(y)) -> add(x, y)"},
    {"subtract-add", "subtract(add(x, y), y) -> x", For::Integers},
    {"subtract-add-relaxed", "subtract(add(x, y), y) -> x", For::Floats,
     reassociate | ordinary},
    {"zero-subtract", "subtract(0, x) -> negate(x)", For::Integers},
    {"zero-subtract", "subtract(-0.0, x) -> negate(x)", For::Floats},
    {"zero-subtract-relaxed", "subtract(0.0, x) -> negate(x)", For::Floats,
     noSignedZero},
    {"negate-negate", "negate(negate(x)) -> x"},
    {"negate-subtract", "negate(subtract!(x, y)) -> subtract(y, x)",
     For::Integers},
    {"negate-subtract-relaxed", "negate(subtract!(x, y)) -> subtract(y, x)",
     For::Floats, noSignedZero},

    // Products
    {"multiply-one", "multiply(x, 1) -> x"},
    {"multiply-zero", "multiply(x, 0) -> 0", For::Integers},
    {"multiply-zero-relaxed", "multiply(x, 0) -> 0", For::Floats, ordinary},
    {"multiply-minus-one", "multiply(x, -1) -> negate(x)", For::Numbers},
    {"multiply-negate", "multiply(negate(x), negate(y)) -> multiply(x, y)"},
    {"multiply-abs", "multiply(abs(x), abs(x)) -> multiply(x, x)",
     For::Numbers},
    {"divide-one", "divide(x, 1) -> x"},
    {"divide-minus-one", "divide(x, -1) -> negate(x)", For::Numbers},
    {"divide-negate", "divide(negate(x), negate(y)) -> divide(x, y)",
     For::Floats},
    {"divide-same-relaxed", "divide(x, x) -> 1", For::Floats, noNan},
    {"divide-constant-relaxed", "divide(v, c) -> multiply(v, divide(1, c))",
     For::Floats, reciprocal},
    {"remainder-one", "remainder(x, 1) -> 0", For::Integers},
    {"factor-out",
     "add(multiply!(x, y), multiply!(x, z)) -> multiply(x, "
     "add(y, z))",
     For::Integers},
    {"factor-out-relaxed",
     "add(multiply!(x, y), multiply!(x, z)) -> "
     "multiply(x, add(y, z))",
     For::Floats, reassociate | ordinary},
    {"multiply-negated-by", "multiply(negate(v), c) -> multiply(v, "
                            "negate(c))"},
    {"negate-multiply", "negate(multiply!(v, c)) -> multiply(v, negate(c))"},
    {"negate-divide", "negate(divide!(v, c)) -> divide(v, negate(c))",
     For::Floats},

    // Additions and multiplications with several constants
    {"constant-right", "add(c, v) -> add(v, c)", For::Any, exact, true},
    {"constant-right", "multiply(c, v) -> multiply(v, c)", For::Any, exact,
     true},
    {"add-constants", "add(add(v, c), d) -> add(v, add(c, d))", For::Integers},
    {"add-constants", "add(subtract(v, c), d) -> add(v, subtract(d, c))",
     For::Integers},
    {"add-constants", "add(subtract(c, v), d) -> subtract(add(c, d), v)",
     For::Integers},
    {"add-constants", "subtract(add(v, c), d) -> add(v, subtract(c, d))",
     For::Integers},
    {"add-constants", "subtract(subtract(v, c), d) -> subtract(v, add(c, d))",
     For::Integers},
    {"add-constants", "subtract(c, add(v, d)) -> subtract(subtract(c, d), v)",
     For::Integers},
    {"add-constants-relaxed", "add(add(v, c), d) -> add(v, add(c, d))",
     For::Floats, reassociate},
    {"add-constants-relaxed",
     "add(subtract(v, c), d) -> add(v, subtract(d, "
     "c))",
     For::Floats, reassociate},
    {"add-constants-relaxed",
     "add(subtract(c, v), d) -> subtract(add(c, d), "
     "v)",
     For::Floats, reassociate},
    {"add-constants-relaxed",
     "subtract(add(v, c), d) -> add(v, subtract(c, "
     "d))",
     For::Floats, reassociate},
    {"add-constants-relaxed",
     "subtract(subtract(v, c), d) -> subtract(v, "
     "add(c, d))",
     For::Floats, reassociate},
    {"add-constants-relaxed",
     "subtract(c, add(v, d)) -> subtract(subtract(c, "
     "d), v)",
     For::Floats, reassociate},
    {"multiply-constants",
     "multiply(multiply(v, c), d) -> multiply(v, "
     "multiply(c, d))",
     For::Integers},
    {"multiply-constants-relaxed",
     "multiply(multiply(v, c), d) -> multiply(v, "
     "multiply(c, d))",
     For::Floats, reassociate},
    {"divide-constants-relaxed",
     "divide(divide(v, c), d) -> divide(v, "
     "multiply(c, d))",
     For::Floats, reassociate},
    {"divide-constants-relaxed",
     "multiply(divide(v, c), d) -> multiply(v, "
     "divide(d, c))",
     For::Floats, reassociate | reciprocal},

    // Powers and functions
    {"power-zero", "power(x, 0) -> 1", For::Numbers},
    {"power-one", "power(x, 1) -> x"},
    {"power-square", "power(x, 2) -> multiply(x, x)", For::Floats},
    {"power-minus-one", "power(x, -1) -> divide(1, x)", For::Floats},
    {"power-half-relaxed", "power(x, 0.5) -> sqrt(x)", For::Floats,
     noInfinity | noSignedZero},
    {"power-half-relaxed", "power(x, -0.5) -> rsqrt(x)", For::Floats,
     noInfinity | noSignedZero},
    {"abs-abs", "abs(abs(x)) -> abs(x)"},
    {"abs-negate", "abs(negate(x)) -> abs(x)"},
    {"abs-positive", "abs(multiply(x, x)) -> multiply(x, x)", For::Floats},
    {"abs-positive", "abs(exponential(x)) -> exponential(x)", For::Floats},
    {"abs-positive", "abs(logistic(x)) -> logistic(x)", For::Floats},
    {"floor-floor", "floor(floor(x)) -> floor(x)"},
    {"floor-floor", "floor(ceil(x)) -> ceil(x)"},
    {"ceil-ceil", "ceil(ceil(x)) -> ceil(x)"},
    {"ceil-ceil", "ceil(floor(x)) -> floor(x)"},
    {"round-round", "round_nearest_even(round_nearest_even(x)) -> "
                    "round_nearest_even(x)"},
    {"round-round", "round_nearest_afz(round_nearest_afz(x)) -> "
                    "round_nearest_afz(x)"},
    {"sign-sign", "sign(sign(x)) -> sign(x)", For::Numbers},
    {"cosine-negate", "cosine(negate(x)) -> cosine(x)", For::Floats},

    // Formulas of functions
    {"rsqrt-relaxed", "divide(1, sqrt!(x)) -> rsqrt(x)", For::Floats, contract},
    {"rsqrt-relaxed", "divide(x, sqrt!(y)) -> multiply(x, rsqrt(y))",
     For::Floats, contract | reciprocal},
    {"exp-minus-one-relaxed",
     "subtract(exponential!(x), 1) -> "
     "exponential_minus_one(x)",
     For::Floats, contract},
    {"log-plus-one-relaxed", "log(add!(x, 1)) -> log_plus_one(x)", For::Floats,
     contract},
    {"logistic-relaxed",
     "divide(1, add!(exponential!(negate(x)), 1)) -> "
     "logistic(x)",
     For::Floats, contract},
};

RuleTable elementwiseRules() {
  static const std::vector<RewriteRule> rules = [] {
    std::vector<RewriteRule> all = rulesOf(elementwiseIdentities);
    all.insert(all.end(),
               {rule<DivOp, dividePowerOfTwo>("divide-power-of-two",
                                              "x / 8.0 -> x * 0.125, exactly"),
                rule<nn::ReluOp, reluNonnegative>("relu-nonnegative",
                                                  "relu(relu(x)) -> relu(x)"),
                rule<ClampOp, clampRelu>(
                    "clamp-relu", "clamp(-1, relu(x), 6) -> clamp(0, x, 6)")});
    return all;
  }();
  return {"Arithmetic and functions", rules};
}

} // namespace sinter
