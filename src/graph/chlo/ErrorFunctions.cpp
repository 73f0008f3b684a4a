// The error function, its complement and its inverse.
//
// Tables are Chebyshev expansions of the functions in their comments, computed
// with 50 digits; the changes of variable are from the papers cited.

#include "graph/chlo/Functions.h"
#include "graph/chlo/Series.h"
#include "graph/nn/NnOps.h"

using namespace mlir;

namespace sinter::chlo {

using nn::tensorOf;

/// erf(x) for |x| <= 1: x times an expansion in x^2.
static Value erfNearZero(TensorBuilder &emit, Value x) {
  // erf(x) / x in 2 x^2 - 1.
  static constexpr double nearZeroErf[] = {
      0.975476939382654096,    -0.142261205103713642,
      0.0100355821875997956,   -0.000576876469976748477,
      0.000027419931252196061, -1.10431755073445076e-6,
      3.84887554203450369e-8,  -1.1808582533875467e-9,
      3.23342158260509096e-11, -7.99101594700454876e-13,
      1.79907251139614556e-14, -3.71863548781869264e-16};
  Value square = emit.min(emit.mul(x, x), 1.0);
  return emit.mul(x, chebyshev(emit, toUnit(emit, square, 0, 1), nearZeroErf));
}

/// erfc(x) for x >= 0.
///
/// M. M. Shepherd and J. G. Laframboise, "Chebyshev approximation of (1 + 2x)
/// exp(x^2) erfc(x) in 0 <= x < inf", Math. Comp. 36 (1981). The square is
/// split as W. J. Cody, "Rational Chebyshev approximations for the error
/// function", Math. Comp. 23 (1969) does, so that exp(-x^2) stays exact.
static Value erfcOfPositive(TensorBuilder &emit, Value x) {
  // (1 + 2x) exp(x^2) erfc(x) in (x - 3.75) / (x + 3.75).
  static constexpr double complement[] = {
      1.17757893456740175,       -0.00459005458064647733,
      -0.0842491333665179156,    0.0592099399981918905,
      -0.0266586684353057523,    0.00907499767070526509,
      -0.00241316354041760819,   0.000490775836525808632,
      -0.0000691697330250120637, 4.13902798607301017e-6,
      7.74038306619849067e-7,    -2.18864010492343957e-7,
      1.07649994656709104e-8,    4.5219598112182869e-9,
      -7.75440020883135111e-10,  -6.31808834088668449e-11,
      2.8687950109306699e-11,    1.94558685457773472e-13,
      -9.65469674843343891e-13,  3.25254814814873984e-14,
      3.34781194828680539e-14,   -1.8645628804193131e-15,
      -1.25079505306886471e-15,  7.41823525662404346e-17,
      5.06814890479611132e-17};
  constexpr double centre = 3.75;
  // Beyond 30 the result is zero in every type.
  Value bounded = emit.min(x, 30.0);
  Value t = emit.div(emit.sub(bounded, centre), emit.add(bounded, centre));
  Value high = emit.mul(floor(emit, emit.mul(bounded, 16.0)), 1.0 / 16);
  Value low = emit.mul(emit.sub(bounded, high), emit.add(bounded, high));
  Value power = emit.mul(emit.exp(emit.neg(emit.mul(high, high))),
                         emit.exp(emit.neg(low)));
  return emit.mul(power, emit.div(chebyshev(emit, t, complement),
                                  emit.add(emit.mul(bounded, 2.0), 1.0)));
}

Value erf(TensorBuilder &emit, Value operand) {
  return inWideType(emit, operand, [&](ValueRange operands) {
    Value x = operands[0], magnitude = emit.abs(x);
    Value far =
        withSignOf(emit, from(emit, 1, erfcOfPositive(emit, magnitude)), x);
    return emit.select(emit.compare(Direction::LE, magnitude, 1.0),
                       erfNearZero(emit, x), far);
  });
}

Value erfc(TensorBuilder &emit, Value operand) {
  return inWideType(emit, operand, [&](ValueRange operands) {
    Value x = operands[0], magnitude = emit.abs(x);
    Value tail = erfcOfPositive(emit, magnitude);
    Value far = emit.select(emit.compare(Direction::LT, x, 0.0),
                            from(emit, 2, tail), tail);
    Value near = from(emit, 1, erfNearZero(emit, x));
    return emit.select(emit.compare(Direction::LT, magnitude, 0.5), near, far);
  });
}

Value wholeErf(TensorBuilder &emit, Value x) { return emit.make<nn::ErfOp>(x); }
Value wholeErfc(TensorBuilder &emit, Value x) {
  return emit.make<nn::ErfcOp>(x);
}

/// The factor of erf_inv for f32, \p w below 5 and above.
static Value erfInvFactorOfSingle(TensorBuilder &emit, Value w, Value root) {
  static constexpr double centre[] = {
      2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
      -4.39150654e-06, 0.00021858087,  -0.00125372503,
      -0.00417768164,  0.246640727,    1.50140941};
  static constexpr double tail[] = {
      -0.000200214257, 0.000100950558, 0.00134934322,
      -0.00367342844,  0.00573950773,  -0.0076224613,
      0.00943887047,   1.00167406,     2.83297682};
  return emit.select(emit.compare(Direction::LT, w, 5.0),
                     polynomial(emit, emit.sub(w, 2.5), centre),
                     polynomial(emit, emit.sub(root, 3.0), tail));
}

/// The same for f64, below 6.25, below 16 and above.
static Value erfInvFactorOfDouble(TensorBuilder &emit, Value w, Value root) {
  static constexpr double centre[] = {
      -3.6444120640178196996e-21, -1.685059138182016589e-19,
      1.2858480715256400167e-18,  1.115787767802518096e-17,
      -1.333171662854620906e-16,  2.0972767875968561637e-17,
      6.6376381343583238325e-15,  -4.0545662729752068639e-14,
      -8.1519341976054721522e-14, 2.6335093153082322977e-12,
      -1.2975133253453532498e-11, -5.4154120542946279317e-11,
      1.051212273321532285e-09,   -4.1126339803469836976e-09,
      -2.9070369957882005086e-08, 4.2347877827932403518e-07,
      -1.3654692000834678645e-06, -1.3882523362786468719e-05,
      0.0001867342080340571352,   -0.00074070253416626697512,
      -0.0060336708714301490533,  0.24015818242558961693,
      1.6536545626831027356};
  static constexpr double middle[] = {
      2.2137376921775787049e-09,  9.0756561938885390979e-08,
      -2.7517406297064545428e-07, 1.8239629214389227755e-08,
      1.5027403968909827627e-06,  -4.013867526981545969e-06,
      2.9234449089955446044e-06,  1.2475304481671778723e-05,
      -4.7318229009055733981e-05, 6.8284851459573175448e-05,
      2.4031110387097893999e-05,  -0.0003550375203628474796,
      0.00095328937973738049703,  -0.0016882755560235047313,
      0.0024914420961078508066,   -0.0037512085075692412107,
      0.005370914553590063617,    1.0052589676941592334,
      3.0838856104922207635};
  static constexpr double tail[] = {
      -2.7109920616438573243e-11, -2.5556418169965252055e-10,
      1.5076572693500548083e-09,  -3.7894654401267369937e-09,
      7.6157012080783393804e-09,  -1.4960026627149240478e-08,
      2.9147953450901080826e-08,  -6.7711997758452339498e-08,
      2.2900482228026654717e-07,  -9.9298272942317002539e-07,
      4.5260625972231537039e-06,  -1.9681778105531670567e-05,
      7.5995277030017761139e-05,  -0.00021503011930044477347,
      -0.00013871931833623122026, 1.0103004648645343977,
      4.8499064014085844221};
  Value outer = emit.select(emit.compare(Direction::LT, w, 16.0),
                            polynomial(emit, emit.sub(root, 3.25), middle),
                            polynomial(emit, emit.sub(root, 5.0), tail));
  return emit.select(emit.compare(Direction::LT, w, 6.25),
                     polynomial(emit, emit.sub(w, 3.125), centre), outer);
}

/// M. Giles, "Approximating the erfinv function", GPU Computing Gems (2011),
/// tables 1 and 5: x times a polynomial in w = -log(1 - x^2), in sqrt(w) where
/// that is large. Near 1, where x^2 has lost significant digits, w comes from
/// (1 - x)(1 + x), whose rounding error is smaller there.
Value erfInv(TensorBuilder &emit, Value operand) {
  return inWideType(emit, operand, [&](ValueRange operands) {
    Value x = operands[0], magnitude = emit.abs(x);
    Value one = emit.splat(1, tensorOf(x));
    Value inside = log1p(emit, emit.neg(emit.mul(x, x)));
    Value edge = emit.log(emit.mul(emit.sub(one, x), emit.add(one, x)));
    Value isEdge = emit.compare(Direction::GT, magnitude, 0.875);
    Value w = emit.neg(emit.select(isEdge, edge, inside));
    Value root = emit.sqrt(w);
    Value factor = isDouble(x) ? erfInvFactorOfDouble(emit, w, root)
                               : erfInvFactorOfSingle(emit, w, root);
    factor = emit.select(emit.compare(Direction::EQ, magnitude, one),
                         infinityLike(emit, x), factor);
    return emit.mul(x, factor);
  });
}

} // namespace sinter::chlo
