// The logarithm of the gamma function and its derivative.
//
// Tables are Chebyshev expansions of the functions in their comments, computed
// with 60 digits. Equations are those of NIST's Digital Library of Mathematical
// Functions (DLMF), chapter 5.

#include "graph/chlo/Functions.h"
#include "graph/chlo/Series.h"

#include <cmath>

using namespace mlir;

namespace sinter::chlo {

using nn::tensorOf;

/// Where both functions change from expansion to asymptotic series.
static constexpr double nearLimit = 3;

/// 9 / x^2 on [-1, 1], for x >= 3.
static Value inverseSquare(TensorBuilder &emit, Value x) {
  Value inverse = over(emit, nearLimit, x);
  return toUnit(emit, emit.mul(inverse, inverse), 0, 1);
}

/// \p near of x - 1 for x in [1, 3], extended by \p step from [1, 2) down to
/// (0, 1); \p far for larger x.
static Value ofPositive(TensorBuilder &emit, Value x,
                        function_ref<Value(Value)> near,
                        function_ref<Value(Value)> step,
                        function_ref<Value(Value)> far) {
  Value isSmall = emit.compare(Direction::LT, x, 1.0);
  Value excess = emit.select(isSmall, x, emit.sub(x, 1.0));
  Value inside = near(emit.min(excess, nearLimit - 1));
  inside = emit.select(isSmall, emit.sub(inside, step(x)), inside);
  return emit.select(emit.compare(Direction::LE, x, nearLimit), inside,
                     far(emit.max(x, nearLimit)));
}

/// (x - 1)(x - 2) times an expansion, DLMF 5.5.1 and 5.11.1.
static Value lgammaOfPositive(TensorBuilder &emit, Value x) {
  // lgamma(x) / ((x - 1)(x - 2)) for x from 1 to 3.
  static constexpr double nearLgamma[] = {
      0.441489025455014208,     -0.111195803217525223,
      0.0195104482606888405,    -0.00392246146302526399,
      0.00084789898959538574,   -0.000191538553413655923,
      0.0000445447018497560638, -0.0000105728743735942996,
      2.54743368734084149e-6,   -6.20853588077631604e-7,
      1.52686773990715466e-7,   -3.78263766029132615e-8,
      9.4281008236242844e-9,    -2.36199970218464494e-9,
      5.94354190581754607e-10,  -1.50131297707286694e-10,
      3.80501964581105369e-11,  -9.67248529965632461e-12,
      2.46534819835566093e-12,  -6.29886814079171148e-13,
      1.61284600302837865e-13,  -4.13794920681404209e-14,
      1.06357012277578984e-14,  -2.73824207866528248e-15,
      7.06067050721489248e-16,  -1.82321771416621187e-16,
      4.71416900675627159e-17,  -1.22041073196398554e-17};
  // x (lgamma(x) - (x - 1/2) log(x) + x - log(2 pi) / 2) in 9 / x^2.
  static constexpr double stirling[] = {
      0.0831824604829198549,   -0.000149758604406940727,
      1.09410714969872243e-6,  -1.95072935681560714e-8,
      6.02426755592560243e-10, -2.73416467316913166e-11,
      1.65625590828983469e-12, -1.25767848471238416e-13,
      1.14611672722206378e-14, -1.21440762112742921e-15,
      1.4610300637638517e-16,  -1.95955107915059435e-17,
      2.88791709586806426e-18};
  auto near = [&](Value z) {
    Value roots = emit.mul(z, emit.sub(z, 1.0));
    return emit.mul(roots, chebyshev(emit, toUnit(emit, z, 0, 2), nearLgamma));
  };
  auto far = [&](Value z) {
    Value main = emit.mul(emit.sub(z, 0.5), emit.sub(emit.log(z), 1.0));
    Value rest = emit.div(chebyshev(emit, inverseSquare(emit, z), stirling), z);
    return emit.add(main, emit.add(rest, std::log(2 * M_PI) / 2 - 0.5));
  };
  return ofPositive(emit, x, near, [&](Value z) { return emit.log(z); }, far);
}

/// Of negative x by reflection, DLMF 5.5.3:
/// log(pi / |sin(pi x)|) - lgamma(1 - x).
Value lgamma(TensorBuilder &emit, Value operand) {
  return inWideType(emit, operand, [&](ValueRange operands) {
    Value x = operands[0];
    Value isNegative = emit.compare(Direction::LT, x, 0.0);
    Value positive =
        lgammaOfPositive(emit, emit.select(isNegative, from(emit, 1, x), x));
    Value magnitude = emit.abs(x);
    Value fraction = emit.sub(magnitude, floor(emit, magnitude));
    fraction = emit.min(fraction, from(emit, 1, fraction));
    Value sine = emit.make<stablehlo::SineOp>(emit.mul(fraction, M_PI));
    Value reflected =
        emit.sub(from(emit, std::log(M_PI), emit.log(sine)), positive);
    // At a pole, where both terms may be infinite.
    reflected = emit.select(emit.compare(Direction::EQ, sine, 0.0),
                            infinityLike(emit, x), reflected);
    Value result = emit.select(isNegative, reflected, positive);
    return emit.select(isInf(emit, x), infinityLike(emit, x), result);
  });
}

/// The distance from the zero of digamma at 1.4616... to 1 + \p excess. The
/// zero has twice the digits of the type.
static Value distanceToRoot(TensorBuilder &emit, Value excess) {
  constexpr long double root = 0.461632144968362341262659542325721L;
  const long double high =
      isDouble(excess) ? static_cast<double>(root) : static_cast<float>(root);
  return emit.sub(emit.sub(excess, static_cast<double>(high)),
                  static_cast<double>(root - high));
}

/// DLMF 5.5.2 and 5.11.2.
static Value digammaOfPositive(TensorBuilder &emit, Value x) {
  // digamma(x) / (x - root) for x from 1 to 3.
  static constexpr double nearDigamma[] = {
      0.850814100227459369,     -0.306917953165957045,
      0.0696008685620517709,    -0.0171229723434518194,
      0.00437496188642430328,   -0.00114017963779151054,
      0.000300461273922367921,  -0.0000796917266168652226,
      0.0000212188539257223262, -5.66315969353659226e-6,
      1.51367175053417373e-6,   -4.04950262333551324e-7,
      1.08397992306439191e-7,   -2.90267507113690419e-8,
      7.77455469798364258e-9,   -2.08264919569237698e-9,
      5.57952408471532144e-10,  -1.49487188639795873e-10,
      4.00522807334103516e-11,  -1.07315151787253951e-11,
      2.8754217843517633e-12,   -7.70453392608657165e-13,
      2.06440040262360029e-13,  -5.5315043465931801e-14,
      1.482155285389004e-14,    -3.97141138928432225e-15,
      1.06413446257227171e-15,  -2.85133624717181311e-16,
      7.64012652613141371e-17,  -2.04716471681187585e-17};
  // x^2 (log(x) - 1 / (2x) - digamma(x)) in 9 / x^2.
  static constexpr double farDigamma[] = {
      0.0828872072232193273,   -0.000440747914994114476,
      5.24557677761153614e-6,  -1.27422503041295639e-7,
      4.91156464664893852e-9,  -2.6420133309888181e-10,
      1.83379659585344914e-11, -1.55837881910726022e-12,
      1.56221398878006444e-13, -1.79735151905781015e-14,
      2.32427248969173517e-15, -3.32384917590728574e-16,
      5.18897374089426478e-17, -8.75115939933794502e-18,
      1.58075229007844883e-18};
  auto near = [&](Value z) {
    return emit.mul(distanceToRoot(emit, z),
                    chebyshev(emit, toUnit(emit, z, 0, 2), nearDigamma));
  };
  auto far = [&](Value z) {
    Value inverse = over(emit, 1, z);
    Value rest = emit.add(
        emit.mul(inverse, chebyshev(emit, inverseSquare(emit, z), farDigamma)),
        0.5);
    return emit.sub(emit.log(z), emit.mul(inverse, rest));
  };
  return ofPositive(
      emit, x, near, [&](Value z) { return over(emit, 1, z); }, far);
}

/// Of negative x by reflection, DLMF 5.5.4: digamma(1 - x) - pi / tan(pi x).
Value digamma(TensorBuilder &emit, Value operand) {
  return inWideType(emit, operand, [&](ValueRange operands) {
    Value x = operands[0];
    Value isNegative = emit.compare(Direction::LT, x, 0.0);
    Value positive =
        digammaOfPositive(emit, emit.select(isNegative, from(emit, 1, x), x));
    // x minus the nearest integer, so that pi x stays accurate.
    Value angle = emit.mul(
        emit.sub(x, emit.make<stablehlo::RoundNearestEvenOp>(x)), M_PI);
    Value cotangent = emit.div(emit.make<stablehlo::CosineOp>(angle),
                               emit.make<stablehlo::SineOp>(angle));
    Value result = emit.select(
        isNegative, emit.sub(positive, emit.mul(cotangent, M_PI)), positive);
    Value isPole = both(emit, emit.compare(Direction::LE, x, 0.0),
                        emit.compare(Direction::EQ, x, floor(emit, x)));
    return emit.select(isPole, nanLike(emit, x), result);
  });
}

} // namespace sinter::chlo
