#include "passes/RaiseGelu.h"

#include "graph/nn/NnOps.h"
#include "passes/Matching.h"
#include <cmath>

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

/// Whether all of \p value is \p number as its type rounds it.
static bool isNumber(Value value, double number) {
  std::optional<double> splat = splatValue(value);
  std::optional<ElementType> type =
      elementTypeOf(tensorOf(value).getElementType());
  return splat && type && isWideFloatTensor(value) &&
         *splat == tensorOfDoubles(*type, {1}, number).toDouble(0);
}

/// The other operand of \p value, an \p Op of which one is \p number.
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

/// Whether \p value is 1 + tanh of x's argument, which nobody else reads.
static bool isGate(Value value, Value x) {
  Value inner = value.hasOneUse() ? besides<AddOp>(value, 1) : Value();
  auto tanh =
      inner && inner.hasOneUse() ? inner.getDefiningOp<TanhOp>() : TanhOp();
  return tanh && isArgument(tanh.getOperand(), x);
}

static Value raiseGelu(MulOp op, OpBuilder &builder) {
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

ArrayRef<RewriteRule> raiseGeluRules() {
  static const std::vector<RewriteRule> rules = {
      rule<MulOp, raiseGelu>("raise-gelu",
                             "x * 0.5 * (1 + tanh(...)) -> gelu(x)"),
  };
  return rules;
}

} // namespace sinter
