// Gradients of random numbers by the parameters of their distribution: each is
// a fixed draw, shifted and scaled. (Kingma and Welling 2014, "Auto-encoding
// variational Bayes".)

#include "graph/gradient/Gradient.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter::gradient {

/// (y - from) / width, the fixed draw; \p where if the width is zero, since any
/// draw gives y then.
static Value fixedDraw(TensorBuilder &e, Value y, Value from, Value width,
                       double where) {
  Value wide = e.spreadLike(width, y);
  Value isNothing = e.compare(ComparisonDirection::EQ, wide, 0);
  Value divisor = e.select(isNothing, e.splat(1, tensorOf(y)), wide);
  Value number = e.div(e.sub(y, e.spreadLike(from, y)), divisor);
  return e.select(isNothing, e.splat(where, tensorOf(y)), number);
}

/// y = a + u (b - a), or y = a + u b.
static Gradients drawn(RngOp op, TensorBuilder &e, ValueRange dy) {
  Value a = op.getA(), b = op.getB(), y = op.getResult();
  if (!isDifferentiable(a))
    return SmallVector<Value>(op->getNumOperands());
  auto total = [&](Value value) { return e.sum(value, allDimensions(value)); };
  if (op.getRngDistribution() == RngDistribution::NORMAL)
    return list(
        {total(dy[0]), total(e.mul(dy[0], fixedDraw(e, y, a, b, 0))), Value()});
  Value part = total(e.mul(dy[0], fixedDraw(e, y, a, e.sub(b, a), 0.5)));
  return list({e.sub(total(dy[0]), part), part, Value()});
}

void attachDraws(MLIRContext *context) { attach<RngOp, drawn>(context); }

} // namespace sinter::gradient
