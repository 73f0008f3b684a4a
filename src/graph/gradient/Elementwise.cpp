// Gradients of elementwise operations: derivatives, a line each.

#include "graph/gradient/Gradient.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter::gradient {

/// y' of a function of one number; null: zero everywhere.
using Slope = Value (*)(TensorBuilder &, Value x, Value y);

template <typename Op, Slope slope>
static Gradients unary(Op op, TensorBuilder &e, ValueRange dy) {
  Value x = op->getOperand(0);
  constexpr bool isOfReals = std::is_same_v<Op, AbsOp> ||
                             std::is_same_v<Op, SignOp> ||
                             std::is_same_v<Op, CbrtOp>;
  if (!isDifferentiable(x) && (isOfReals || !isComplex(x)))
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

/// The greater (smaller) operand gets it all; the first one of equal ones.
template <typename Op, ComparisonDirection wins>
static Gradients extreme(Op op, TensorBuilder &e, ValueRange dy) {
  if (!isDifferentiable(op.getLhs()))
    return failure();
  Value first = e.compare(wins, op.getLhs(), op.getRhs());
  Value zero = e.splat(0, tensorOf(dy[0]));
  return list({e.select(first, dy[0], zero), e.select(first, zero, dy[0])});
}

static Gradients power(PowOp op, TensorBuilder &e, ValueRange dy) {
  Value x = op.getLhs(), p = op.getRhs();
  if (!isDifferentiable(x))
    return failure();
  // x^0 is 1 also where x is zero, and x^-1 is not a number to multiply with.
  Value slope = where(e, e.compare(ComparisonDirection::NE, p, 0),
                      e.mul(p, e.make<PowOp>(x, e.sub(p, 1))));
  // x^p does not change with p where x is zero.
  Value logarithm =
      where(e, e.compare(ComparisonDirection::NE, x, 0), e.log(e.abs(x)));
  return list(
      {e.mul(dy[0], slope), e.mul(dy[0], e.mul(op.getResult(), logarithm))});
}

static Gradients atan2(Atan2Op op, TensorBuilder &e, ValueRange dy) {
  Value y = op.getLhs(), x = op.getRhs();
  if (!isDifferentiable(x))
    return failure();
  Value square = e.add(e.mul(x, x), e.mul(y, y));
  return list(
      {e.mul(dy[0], e.div(x, square)), e.neg(e.mul(dy[0], e.div(y, square)))});
}

/// x - trunc(x / y) * y.
static Gradients remainder(RemOp op, TensorBuilder &e, ValueRange dy) {
  Value x = op.getLhs(), y = op.getRhs();
  if (!isDifferentiable(x))
    return failure();
  Value quotient = e.div(x, y);
  Value whole =
      e.mul(e.make<SignOp>(quotient), e.make<FloorOp>(e.abs(quotient)));
  return list({dy[0], e.neg(e.mul(dy[0], whole))});
}

/// A scalar in each place of \p like, or \p value itself.
static Value spread(TensorBuilder &e, Value value, Value like) {
  return tensorOf(value).getRank() == tensorOf(like).getRank()
             ? value
             : e.broadcast(value, {}, tensorOf(like).getShape());
}

/// The gradient of what spread() repeated.
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
  bool isFromComplex = isComplex(op.getOperand());
  if (isFromComplex != isComplex(op.getResult()))
    return failure();
  if (!isFromComplex &&
      (!isDifferentiable(op.getOperand()) || !isDifferentiable(op.getResult())))
    return list({Value()});
  return list({e.convert(dy[0], tensorOf(op.getOperand()).getElementType())});
}

static void attachUnary(MLIRContext *c) {
  one<AbsOp,
      [](TensorBuilder &e, Value x, Value) { return e.make<SignOp>(x); }>(c);
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
  one<SignOp, none>(c);
}

void attachElementwise(MLIRContext *c) {
  attachUnary(c);
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
