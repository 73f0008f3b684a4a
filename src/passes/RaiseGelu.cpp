#include "passes/RaiseGelu.h"

#include "graph/nn/TensorBuilder.h"
#include "passes/Matching.h"
#include <cmath>

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

/// Whether \p value is a splat of \p number, rounded to its type.
static bool isNumber(Value value, double number) {
  std::optional<double> splat = splatValue(value);
  std::optional<ElementType> type =
      elementTypeOf(tensorOf(value).getElementType());
  return splat && type && isFloatTensor(value) &&
         *splat == tensorOfDoubles(*type, {1}, number).toDouble(0);
}

/// The other operand of \p value, an \p Op with one operand a splat of
/// \p number.
template <typename Op> static Value besides(Value value, double number) {
  auto op = value.getDefiningOp<Op>();
  if (!op)
    return {};
  if (isNumber(op.getRhs(), number))
    return op.getLhs();
  return isNumber(op.getLhs(), number) ? op.getRhs() : Value();
}

/// Whether \p value is the third power of \p x.
static bool isCube(Value value, Value x) {
  if (auto power = value.getDefiningOp<PowOp>())
    return power.getLhs() == x && isNumber(power.getRhs(), 3);
  auto isSquare = [&](Value v) {
    auto product = v.getDefiningOp<MulOp>();
    return product && product.getLhs() == x && product.getRhs() == x;
  };
  auto product = value.getDefiningOp<MulOp>();
  return product && ((product.getLhs() == x && isSquare(product.getRhs())) ||
                     (product.getRhs() == x && isSquare(product.getLhs())));
}

/// Whether \p value is (x + x^3 * 0.044715) * sqrt(2 / pi).
static bool isArgument(Value value, Value x) {
  Value sum = besides<MulOp>(value, std::sqrt(2 / M_PI));
  auto add = sum ? sum.getDefiningOp<AddOp>() : AddOp();
  if (!add)
    return false;
  for (auto [a, b] :
       {std::pair(add.getLhs(), add.getRhs()), {add.getRhs(), add.getLhs()}})
    if (a == x)
      if (Value cube = besides<MulOp>(b, 0.044715); cube && isCube(cube, x))
        return true;
  return false;
}

/// Whether \p value is 1 + tanh(argument of \p x), with one use.
static bool isGate(Value value, Value x) {
  Value inner = value.hasOneUse() ? besides<AddOp>(value, 1) : Value();
  auto tanh =
      inner && inner.hasOneUse() ? inner.getDefiningOp<TanhOp>() : TanhOp();
  return tanh && isArgument(tanh.getOperand(), x);
}

static Value raise(MulOp op, OpBuilder &builder) {
  auto gelu = [&](Value x) -> Value {
    return builder.create<nn::GeluOp>(op.getLoc(), op.getType(), x,
                                      builder.getBoolAttr(true));
  };
  for (auto [a, b] :
       {std::pair(op.getLhs(), op.getRhs()), {op.getRhs(), op.getLhs()}}) {
    if (Value x = besides<MulOp>(a, 0.5); x && isGate(b, x))
      return gelu(x);
    Value gate = b.hasOneUse() ? besides<MulOp>(b, 0.5) : Value();
    if (gate && isGate(gate, a))
      return gelu(a);
  }
  return {};
}

static bool isHalf(Value value) {
  Type type = tensorOf(value).getElementType();
  return type.isF16() || type.isBF16();
}

static Value raiseGelu(MulOp op, OpBuilder &builder) {
  return isWideFloatTensor(op) ? raise(op, builder) : Value();
}

static Value raiseNarrowGelu(MulOp op, OpBuilder &builder) {
  return isHalf(op) ? raise(op, builder) : Value();
}

/// c * x or x / c in \p op as a multiplication of \p wide in f32: the error of
/// the reciprocal of c is far below the precision of f16 and bf16.
static Value widened(Operation *op, Value x, Value wide,
                     nn::TensorBuilder &emit) {
  std::optional<double> right = splatValue(op->getOperand(1));
  if (right && op->getOperand(0) == x)
    return emit.mul(wide, isa<DivOp>(op) ? 1 / *right : *right);
  std::optional<double> left = splatValue(op->getOperand(0));
  if (left && op->getOperand(1) == x && isa<MulOp>(op))
    return emit.mul(wide, *left);
  return {};
}

/// The x for which \p gate is 1 + erf(c * x) or 1 + erf(x / c), and that
/// argument.
static std::pair<Value, Operation *> errorGate(Value gate) {
  Value inner = gate.hasOneUse() ? besides<AddOp>(gate, 1) : Value();
  auto erf =
      inner && inner.hasOneUse() ? inner.getDefiningOp<nn::ErfOp>() : nullptr;
  Operation *line = erf ? erf.getOperand().getDefiningOp() : nullptr;
  if (!isa_and_nonnull<MulOp, DivOp>(line) || !line->hasOneUse())
    return {};
  if (splatValue(line->getOperand(1)))
    return {line->getOperand(0), line};
  if (isa<MulOp>(line) && splatValue(line->getOperand(0)))
    return {line->getOperand(1), line};
  return {};
}

static Value carryGelu(MulOp op, OpBuilder &builder) {
  if (!isHalf(op))
    return {};
  for (auto [factor, gate] :
       {std::pair(op.getLhs(), op.getRhs()), {op.getRhs(), op.getLhs()}}) {
    auto [x, line] = errorGate(gate);
    const bool isHalved = x && besides<MulOp>(factor, 0.5) == x;
    if (!x || (factor != x && !isHalved))
      continue;
    nn::TensorBuilder emit(builder, op.getLoc());
    Value wide = emit.convert(x, builder.getF32Type());
    emit.setShape(wide);
    Value erf = emit.make<nn::ErfOp>(widened(line, x, wide, emit));
    Value result =
        emit.mul(isHalved ? emit.mul(wide, 0.5) : wide, emit.add(erf, 1.0));
    return emit.convert(result, tensorOf(op).getElementType());
  }
  return {};
}

ArrayRef<RewriteRule> raiseGeluRules() {
  static const std::vector<RewriteRule> rules = {
      rule<MulOp, raiseGelu>("raise-gelu",
                             "x * 0.5 * (1 + tanh(...)) -> gelu(x)"),
      rule<MulOp, carryGelu>(
          "carry-gelu",
          "x * (1 + erf(c * x)) : f16 -> convert<f16>(the same in f32)",
          contract),
      rule<MulOp, raiseNarrowGelu>("raise-narrow-gelu",
                                   "x * 0.5 * (1 + tanh(...)) : f16 -> gelu(x)",
                                   contract),
  };
  return rules;
}

} // namespace sinter
