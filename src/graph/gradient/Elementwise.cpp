// Gradients of elementwise operations: a line per derivative.

#include "graph/gradient/Gradient.h"
#include "graph/nn/NnDropout.h"
#include "graph/nn/Wide.h"

#include <cmath>

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter::gradient {

/// The derivative y' of a unary function; null: zero everywhere.
using Slope = Value (*)(TensorBuilder &, Value x, Value y);

template <typename Op, Slope slope>
static Gradients unary(Op op, TensorBuilder &e, ValueRange dy) {
  Value x = op->getOperand(0);
  if (!hasGradient(x))
    return failure();
  Value factor = slope(e, x, op->getResult(0));
  return list({factor ? e.mul(dy[0], conjugate(e, factor)) : Value()});
}

template <typename Op, Slope slope> static void one(MLIRContext *context) {
  attach<Op, unary<Op, slope>>(context);
}

static Value none(TensorBuilder &, Value, Value) { return {}; }

/// \p value where \p condition holds, else zero.
static Value where(TensorBuilder &e, Value condition, Value value) {
  return e.select(condition, value, e.splat(0, tensorOf(value)));
}

/// The greater (smaller) operand gets the gradient; the first of equal ones.
template <typename Op, ComparisonDirection wins>
static Gradients extreme(Op op, TensorBuilder &e, ValueRange dy) {
  if (!hasGradient(op.getLhs()))
    return failure();
  // Only the operation itself orders complex values.
  Value first = isComplex(op.getLhs())
                    ? e.compare(ComparisonDirection::EQ, op.getLhs(), op)
                    : e.compare(wins, op.getLhs(), op.getRhs());
  Value zero = e.splat(0, tensorOf(dy[0]));
  return list({e.select(first, dy[0], zero), e.select(first, zero, dy[0])});
}

static Gradients power(PowOp op, TensorBuilder &e, ValueRange dy) {
  Value x = op.getLhs(), p = op.getRhs();
  if (!hasGradient(x))
    return failure();
  // x^0 is 1 also where x is zero, where x^-1 is infinite.
  Value hasSlope = e.compare(ComparisonDirection::NE, p, 0);
  Value slope = e.mul(p, e.make<PowOp>(x, where(e, hasSlope, e.sub(p, 1))));
  // x^p does not depend on p where x is zero. There the logarithm of 1 is
  // taken, whose derivative is finite.
  Value isZero = e.compare(ComparisonDirection::EQ, x, 0);
  Value base = e.select(isZero, e.splat(1, tensorOf(x)), x);
  Value logarithm = e.log(isComplex(x) ? base : e.abs(base));
  return list({e.mul(dy[0], conjugate(e, slope)),
               e.mul(dy[0], conjugate(e, e.mul(op.getResult(), logarithm)))});
}

static Gradients atan2(Atan2Op op, TensorBuilder &e, ValueRange dy) {
  Value y = op.getLhs(), x = op.getRhs();
  if (!hasGradient(x))
    return failure();
  Value square = e.add(e.mul(x, x), e.mul(y, y));
  return list({e.mul(dy[0], conjugate(e, e.div(x, square))),
               e.neg(e.mul(dy[0], conjugate(e, e.div(y, square))))});
}

/// x - trunc(x / y) * y.
static Gradients remainder(RemOp op, TensorBuilder &e, ValueRange dy) {
  Value x = op.getLhs(), y = op.getRhs();
  if (!hasGradient(x))
    return failure();
  auto truncated = [&](Value value) {
    return e.mul(e.make<SignOp>(value), e.make<FloorOp>(e.abs(value)));
  };
  Value quotient = e.div(x, y);
  Value whole = isComplex(x)
                    ? e.make<ComplexOp>(truncated(e.make<RealOp>(quotient)),
                                        truncated(e.make<ImagOp>(quotient)))
                    : truncated(quotient);
  return list({dy[0], e.neg(e.mul(dy[0], conjugate(e, whole)))});
}

/// The gradient of |z| is z / |z|.
static Gradients magnitude(AbsOp op, TensorBuilder &e, ValueRange dy) {
  Value x = op.getOperand();
  if (!hasGradient(x))
    return failure();
  Value slope = e.make<SignOp>(x);
  Value gradient = isComplex(x)
                       ? e.make<ComplexOp>(dy[0], e.splat(0, tensorOf(dy[0])))
                       : dy[0];
  return list({e.mul(gradient, slope)});
}

/// The gradient of z / |z| is perpendicular to z; for real values it is zero.
static Gradients direction(SignOp op, TensorBuilder &e, ValueRange dy) {
  if (!isComplex(op.getOperand()))
    return list({Value()});
  Value unit = op.getResult();
  Value length = e.abs(op.getOperand());
  Value zero = e.splat(0, tensorOf(length));
  Value along = e.make<RealOp>(e.mul(conjugate(e, dy[0]), unit));
  Value across = e.sub(dy[0], e.mul(e.make<ComplexOp>(along, zero), unit));
  // The gradient at 0 is 0.
  Value isZero = e.compare(ComparisonDirection::EQ, length, zero);
  Value whole = e.make<ComplexOp>(
      e.select(isZero, e.splat(1, tensorOf(length)), length), zero);
  return list({where(e, e.make<NotOp>(isZero), e.div(across, whole))});
}

/// A scalar \p value broadcast to the shape of \p like, or \p value itself.
static Value spread(TensorBuilder &e, Value value, Value like) {
  return tensorOf(value).getRank() == tensorOf(like).getRank()
             ? value
             : e.broadcast(value, {}, tensorOf(like).getShape());
}

/// The gradient of the operand of spread().
static Value gather(TensorBuilder &e, Value gradient, Value value) {
  if (tensorOf(value).getRank() == tensorOf(gradient).getRank())
    return gradient;
  return e.sum(gradient, llvm::to_vector(llvm::seq<int64_t>(
                             0, tensorOf(gradient).getRank())));
}

static Gradients clamp(ClampOp op, TensorBuilder &e, ValueRange dy) {
  Value x = op.getOperand();
  if (!isDifferentiable(x))
    return failure();
  Value low = spread(e, op.getMin(), x), high = spread(e, op.getMax(), x);
  // clamp(low, x, high) = min(max(x, low), high)
  Value raised = e.max(x, low);
  Value isCut = e.compare(ComparisonDirection::GT, raised, high);
  Value isRaised = e.compare(ComparisonDirection::LT, x, low);
  Value zero = e.splat(0, tensorOf(dy[0]));
  Value inner = e.select(isCut, zero, dy[0]);
  return list({gather(e, e.select(isRaised, inner, zero), op.getMin()),
               e.select(isRaised, zero, inner),
               gather(e, e.select(isCut, dy[0], zero), op.getMax())});
}

static Gradients selected(SelectOp op, TensorBuilder &e, ValueRange dy) {
  if (!isDifferentiable(op.getOnTrue()) && !isComplex(op.getOnTrue()))
    return failure();
  Value zero = e.splat(0, tensorOf(dy[0]));
  return list({Value(), e.select(op.getPred(), dy[0], zero),
               e.select(op.getPred(), zero, dy[0])});
}

static Gradients converted(ConvertOp op, TensorBuilder &e, ValueRange dy) {
  if (!hasGradient(op.getOperand()) || !hasGradient(op.getResult()))
    return list({Value()});
  return list({e.convert(dy[0], tensorOf(op.getOperand()).getElementType())});
}

static void attachUnary(MLIRContext *c) {
  one<CbrtOp, [](TensorBuilder &e, Value, Value y) {
    return e.div(e.splat(1.0 / 3, tensorOf(y)), e.mul(y, y));
  }>(c);
  one<CosineOp, [](TensorBuilder &e, Value x, Value) {
    return e.neg(e.make<SineOp>(x));
  }>(c);
  one<ExpOp, [](TensorBuilder &, Value, Value y) { return y; }>(c);
  one<Expm1Op, [](TensorBuilder &e, Value, Value y) { return e.add(y, 1); }>(c);
  one<LogOp, [](TensorBuilder &e, Value x, Value) {
    return e.div(e.splat(1, tensorOf(x)), x);
  }>(c);
  one<Log1pOp, [](TensorBuilder &e, Value x, Value) {
    return e.div(e.splat(1, tensorOf(x)), e.add(x, 1));
  }>(c);
  one<LogisticOp, [](TensorBuilder &e, Value, Value y) {
    return e.mul(y, e.sub(e.splat(1, tensorOf(y)), y));
  }>(c);
  one<NegOp, [](TensorBuilder &e, Value x, Value) {
    return e.splat(-1, tensorOf(x));
  }>(c);
  one<RsqrtOp, [](TensorBuilder &e, Value, Value y) {
    return e.mul(e.mul(e.mul(y, y), y), -0.5);
  }>(c);
  one<SineOp,
      [](TensorBuilder &e, Value x, Value) { return e.make<CosineOp>(x); }>(c);
  one<SqrtOp, [](TensorBuilder &e, Value, Value y) {
    return e.div(e.splat(0.5, tensorOf(y)), y);
  }>(c);
  one<TanOp, [](TensorBuilder &e, Value, Value y) {
    return e.add(e.mul(y, y), 1);
  }>(c);
  one<TanhOp, [](TensorBuilder &e, Value, Value y) {
    return e.sub(e.splat(1, tensorOf(y)), e.mul(y, y));
  }>(c);
  one<CeilOp, none>(c);
  one<FloorOp, none>(c);
  one<RoundOp, none>(c);
  one<RoundNearestEvenOp, none>(c);
  attach<AbsOp, magnitude>(c);
  attach<SignOp, direction>(c);
}

/// Unary functions with long decompositions, of which each intermediate would
/// have to be kept. Narrow floats are computed in f32, as in the
/// decompositions; quantised values use the decomposition.
template <typename Op, Slope slope>
static Gradients special(Op op, TensorBuilder &e, ValueRange dy) {
  Value x = op->getOperand(0);
  Type element = tensorOf(x).getElementType();
  if (!isa<FloatType>(element)) {
    OpBuilder before(op);
    auto results = op.decompose(before);
    if (failed(results))
      return failure();
    return backpropagate(e.builder, *results, dy, x);
  }
  Type wide = nn::isNarrowFloat(element) ? e.builder.getF32Type() : element;
  Value factor = slope(e, e.convert(x, wide), op->getResult(0));
  return list({e.convert(e.mul(e.convert(dy[0], wide), factor), element)});
}

/// height * exp(-curve * x^2).
static Value bell(TensorBuilder &e, Value x, double height, double curve) {
  return e.mul(e.exp(e.mul(e.mul(x, x), -curve)), height);
}

/// Phi(x) + x phi(x); the approximation has its own derivative.
static Gradients gaussianUnit(nn::GeluOp op, TensorBuilder &e, ValueRange dy) {
  if (op.getApproximate())
    return special<nn::GeluOp, [](TensorBuilder &e, Value x, Value) {
      // x s(2 u) with u = sqrt(2 / pi) (x + 0.044715 x^3).
      const double outer = 2 * std::sqrt(2 / M_PI);
      Value square = e.mul(x, x);
      Value s = e.make<LogisticOp>(
          e.mul(e.mul(x, e.add(e.mul(square, 0.044715), 1.0)), outer));
      Value inner = e.mul(e.add(e.mul(square, 3 * 0.044715), 1.0), outer);
      Value rest = e.sub(e.splat(1, tensorOf(s)), s);
      return e.mul(s, e.add(e.mul(e.mul(x, inner), rest), 1.0));
    }>(op, e, dy);
  return special<nn::GeluOp, [](TensorBuilder &e, Value x, Value) {
    Value below = e.mul(
        e.add(e.make<nn::ErfOp>(x.getType(), e.mul(x, M_SQRT1_2)), 1.0), 0.5);
    return e.add(below, e.mul(x, bell(e, x, M_2_SQRTPI * M_SQRT1_2 / 2, 0.5)));
  }>(op, e, dy);
}

/// Drops and scales the same elements of the gradient.
static Gradients dropped(nn::DropoutOp op, TensorBuilder &e, ValueRange dy) {
  if (!op.getMask())
    return list({dy[0]});
  return list({e.make<nn::DropoutOp>(op.getType(), dy[0], op.getMask(),
                                     op.getRatioAttr()),
               Value()});
}

void attachElementwise(MLIRContext *c) {
  attachUnary(c);
  attach<nn::ErfOp, special<nn::ErfOp, [](TensorBuilder &e, Value x, Value) {
           return bell(e, x, M_2_SQRTPI, 1);
         }>>(c);
  attach<nn::ErfcOp, special<nn::ErfcOp, [](TensorBuilder &e, Value x, Value) {
           return bell(e, x, -M_2_SQRTPI, 1);
         }>>(c);
  attach<nn::GeluOp, gaussianUnit>(c);
  attach<nn::DropoutOp, dropped>(c);
  attach<AddOp, [](AddOp, TensorBuilder &, ValueRange dy) {
    return list({dy[0], dy[0]});
  }>(c);
  attach<SubtractOp, [](SubtractOp, TensorBuilder &e, ValueRange dy) {
    return list({dy[0], e.neg(dy[0])});
  }>(c);
  attach<MulOp, [](MulOp op, TensorBuilder &e, ValueRange dy) {
    return list({e.mul(dy[0], conjugate(e, op.getRhs())),
                 e.mul(dy[0], conjugate(e, op.getLhs()))});
  }>(c);
  attach<DivOp, [](DivOp op, TensorBuilder &e, ValueRange dy) {
    Value quotient = e.div(dy[0], conjugate(e, op.getRhs()));
    return list(
        {quotient, e.neg(e.mul(quotient, conjugate(e, op.getResult())))});
  }>(c);
  attach<MaxOp, extreme<MaxOp, ComparisonDirection::GE>>(c);
  attach<MinOp, extreme<MinOp, ComparisonDirection::LE>>(c);
  attach<PowOp, power>(c);
  attach<Atan2Op, atan2>(c);
  attach<RemOp, remainder>(c);
  attach<ClampOp, clamp>(c);
  attach<SelectOp, selected>(c);
  attach<ConvertOp, converted>(c);
}

} // namespace sinter::gradient
