// Hurwitz's zeta function and the polygamma functions.

#include "graph/chlo/Functions.h"
#include "graph/chlo/Series.h"

using namespace mlir;

namespace sinter::chlo {

using nn::tensorOf;

static Value power(TensorBuilder &emit, Value base, Value exponent) {
  return emit.make<stablehlo::PowOp>(base, exponent);
}
static Value isWhole(TensorBuilder &emit, Value x) {
  return emit.compare(Direction::EQ, x, floor(emit, x));
}

/// The sum of (a + n)^-x over n >= 0 by Euler and Maclaurin, given a^-x:
/// F. Johansson, "Rigorous high-precision computation of the Hurwitz zeta
/// function and its derivatives", Numerical Algorithms 69 (2015), formula (5).
static Value zetaTail(TensorBuilder &emit, Value x, Value a, Value last) {
  // The ratio of B(2k) / (2k)! to that of k - 1, for k from 2 on.
  static constexpr double ratios[] = {
      -1.0 / 60,
      -1.0 / 42,
      -1.0 / 40,
      -5.0 / 198,
      -691.0 / 27300,
      -35.0 / 1382,
      -3617.0 / 142800,
      -0.0253300055040374875,
      -0.0253302233818339319,
      -0.0253302777864829212,
      -0.0253302913804567963,
  };
  Value inverse = over(emit, 1, emit.mul(a, a));
  // Horner's scheme: from the last term to the first.
  Value nested = emit.splat(1, tensorOf(x));
  for (int k = std::size(ratios); k > 0; --k) {
    Value rising = emit.mul(emit.add(x, 2 * k - 1.0), emit.add(x, 2.0 * k));
    Value factor = emit.mul(emit.mul(rising, inverse), ratios[k - 1]);
    nested = emit.add(emit.mul(factor, nested), 1.0);
  }
  Value corrections = emit.mul(emit.mul(emit.div(x, a), nested), 1.0 / 12);
  Value integral = emit.div(emit.mul(last, a), emit.sub(x, 1.0));
  return emit.add(integral, emit.mul(last, emit.add(corrections, 0.5)));
}

constexpr int leadingTerms = 10;

/// The sum of (q + n)^-x over n >= 0, where q is greater than -leadingTerms.
static Value zetaSum(TensorBuilder &emit, Value x, Value q) {
  Value exponent = emit.neg(x);
  Value sum = power(emit, q, exponent);
  for (int n = 1; n < leadingTerms; ++n)
    sum = emit.add(sum, power(emit, emit.add(q, n), exponent));
  Value a = emit.add(q, leadingTerms);
  Value last = power(emit, a, exponent);
  // Where the rest is negligible its series may overflow.
  Value isNothing =
      emit.compare(Direction::LT, emit.abs(last),
                   emit.mul(emit.abs(sum), isDouble(x) ? 0x1p-80 : 0x1p-40));
  return emit.select(isNothing, sum, emit.add(sum, zetaTail(emit, x, a, last)));
}

/// The terms below zero are those of 1 - f without those of 1 - q, where f is
/// the fraction of q, with the sign (-1)^x; the others are those of f.
static Value zetaOf(TensorBuilder &emit, Value x, Value q) {
  Value isFar = emit.compare(Direction::LT, q, 1.0 - leadingTerms);
  Value fraction = emit.sub(q, floor(emit, q));
  Value above = zetaSum(emit, x, emit.select(isFar, fraction, q));
  Value one = emit.splat(1, tensorOf(x));
  auto mirrored = [&](Value argument) {
    return zetaSum(emit, x, emit.select(isFar, emit.sub(one, argument), one));
  };
  Value below = emit.sub(mirrored(fraction), mirrored(q));
  Value halfOrder = emit.mul(x, 0.5);
  below = emit.select(isWhole(emit, halfOrder), below, emit.neg(below));
  Value result = emit.select(isFar, emit.add(above, below), above);

  Value nan = nanLike(emit, x), infinity = infinityLike(emit, x);
  // For q <= 0 only integer powers are real. For an integer q one term is
  // infinite, and only even powers have a defined sign.
  Value isLow = emit.compare(Direction::LE, q, 0.0);
  Value pole = emit.select(isWhole(emit, halfOrder), infinity, nan);
  Value low = emit.select(isWhole(emit, q), pole,
                          emit.select(isWhole(emit, x), result, nan));
  result = emit.select(isLow, low, result);
  result = emit.select(emit.compare(Direction::LT, x, 1.0), nan, result);
  return emit.select(emit.compare(Direction::EQ, x, 1.0), infinity, result);
}

Value zeta(TensorBuilder &emit, Value x, Value q) {
  return inWideType(emit, {x, q}, [&](ValueRange operands) {
    return zetaOf(emit, operands[0], operands[1]);
  });
}

/// DLMF 5.15.1: (-1)^(n+1) n! zeta(n + 1, x), digamma(x) where n is 0.
Value polygamma(TensorBuilder &emit, Value order, Value argument) {
  return inWideType(emit, {order, argument}, [&](ValueRange operands) {
    Value n = operands[0], x = operands[1];
    Value next = emit.add(n, 1.0);
    Value magnitude =
        emit.mul(emit.exp(lgamma(emit, next)), zeta(emit, next, x));
    Value isOdd = emit.compare(Direction::NE, emit.mul(n, 0.5),
                               floor(emit, emit.mul(n, 0.5)));
    Value result = emit.select(isOdd, magnitude, emit.neg(magnitude));
    result = emit.select(emit.compare(Direction::EQ, n, 0.0), digamma(emit, x),
                         result);
    Value isOrder =
        both(emit, emit.compare(Direction::GE, n, 0.0), isWhole(emit, n));
    return emit.select(isOrder, result, nanLike(emit, x));
  });
}

} // namespace sinter::chlo
