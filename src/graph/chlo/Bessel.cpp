// Bessel functions.

#include "graph/chlo/Functions.h"
#include "graph/chlo/Series.h"

using namespace mlir;

namespace sinter::chlo {

/// exp(-|x|) I_1(x): Chebyshev expansions (computed with 50 digits) of
/// exp(-x) I_1(x) / x up to 8 and of exp(-x) I_1(x) sqrt(x) beyond, in 8 / x,
/// after C. W. Clenshaw, "Chebyshev series for mathematical functions",
/// National Physical Laboratory Mathematical Tables 5 (1962).
Value besselI1e(TensorBuilder &emit, Value operand) {
  static constexpr double nearBessel[] = {
      0.126293593221816827,     -0.176416518357834055,
      0.102643658689847095,     -0.0529459812080949914,
      0.0247264490306265168,    -0.0105640848946261982,
      0.00415642294431288816,   -0.00151357245063125315,
      0.000512285956168575773,  -0.000161760815825896746,
      0.0000478156510755005423, -0.0000132731636560394358,
      3.47025130813767848e-6,   -8.56872026469545474e-7,
      2.00329475355213526e-7,   -4.44505912879632808e-8,
      9.38153738649577178e-9,   -1.88724975172282929e-9,
      3.62559028155211704e-10,  -6.66348972350202774e-11,
      1.17361862988909016e-11,  -1.98397439776494372e-12,
      3.22379336594557471e-13,  -5.04218550472791169e-14,
      7.60068429473540693e-15,  -1.10559694773538631e-15,
      1.55363195773620047e-16,  -2.11142121435816608e-17,
      2.77791411276104637e-18};
  static constexpr double farBessel[] = {
      0.38928811750914006,      -0.00976109749136146841,
      -0.000110588938762623716, -3.88256480887769039e-6,
      -2.51223623787020893e-7,  -2.63146884688951951e-8,
      -3.83538038596423702e-9,  -5.58974346219658381e-10,
      -1.89749581235054123e-11, 3.25260358301548824e-11,
      1.41258074366137813e-11,  2.03562854414708951e-12,
      -7.19855177624590851e-13, -4.08355111109219732e-13,
      -2.10154184277266431e-14, 4.27244001671195135e-14,
      1.04202769841288028e-14,  -3.8144030724370078e-15,
      -1.88035477551078245e-15, 3.30820231092092828e-16,
      2.96262899764595014e-16,  -3.20952592199342396e-17,
      -4.65030536848935833e-17, 4.41434832307170795e-18,
      7.51729631084210481e-18};
  constexpr double limit = 8;
  return inWideType(emit, operand, [&](ValueRange operands) {
    Value x = operands[0], magnitude = emit.abs(x);
    Value bounded = emit.min(magnitude, limit);
    Value near = emit.mul(
        bounded, chebyshev(emit, toUnit(emit, bounded, 0, limit), nearBessel));
    Value outside = emit.max(magnitude, limit);
    Value inverse = over(emit, limit, outside);
    Value far =
        emit.div(chebyshev(emit, toUnit(emit, inverse, 0, 1), farBessel),
                 emit.sqrt(outside));
    Value result =
        emit.select(emit.compare(Direction::LE, magnitude, limit), near, far);
    return withSignOf(emit, result, x);
  });
}

} // namespace sinter::chlo
