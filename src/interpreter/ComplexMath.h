//===- ComplexMath.h - functions of complex numbers -----------------------===//
//
// Computed in long double, so that the error of either component is at most
// half a unit in the last place and nothing overflows on the way. Where the C
// standard defines more at infinity than the formulas beside the functions, the
// formulas decide.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_INTERPRETER_COMPLEXMATH_H
#define SINTER_INTERPRETER_COMPLEXMATH_H

#include <complex>

namespace sinter::interpreter::complexmath {

using Complex = std::complex<double>;

/// exp(x) (cos(y) + i sin(y))
Complex exp(Complex z);
/// exp(z) - 1, exact near zero.
Complex expm1(Complex z);
Complex log(Complex z);
/// log(1 + z), exact near zero and where |1 + z| is near 1.
Complex log1p(Complex z);
Complex sqrt(Complex z);
Complex rsqrt(Complex z);
Complex cbrt(Complex z);
Complex cos(Complex z);
Complex sin(Complex z);
Complex tan(Complex z);
Complex tanh(Complex z);
/// 1 / (1 + exp(-z))
Complex logistic(Complex z);
/// z / |z|, 0 of 0.
Complex sign(Complex z);
Complex divide(Complex a, Complex b);
/// exp(b log(a)); 0 to the power of 0 is 1, of anything else 0.
Complex power(Complex a, Complex b);
/// -i log((b + i a) / sqrt(a^2 + b^2))
Complex atan2(Complex a, Complex b);

} // namespace sinter::interpreter::complexmath

#endif // SINTER_INTERPRETER_COMPLEXMATH_H
