#include "interpreter/ComplexMath.h"

#include <cmath>

namespace sinter::interpreter::complexmath {

using Long = long double;
using Wide = std::complex<Long>;

static Wide wide(Complex z) { return {z.real(), z.imag()}; }
static Complex narrow(Wide z) {
  return {static_cast<double>(z.real()), static_cast<double>(z.imag())};
}

static Wide wideExp(Wide z) {
  const Long length = std::exp(z.real()), y = z.imag();
  return {length * std::cos(y), y == 0 ? y : length * std::sin(y)};
}

Complex exp(Complex z) { return narrow(wideExp(wide(z))); }

/// expm1(x) cos(y) - 2 sin(y / 2)^2 + i exp(x) sin(y)
Complex expm1(Complex z) {
  const Wide power = wideExp(wide(z));
  const Long x = z.real(), y = z.imag(), half = std::sin(y / 2);
  return narrow(
      {x > 60 ? power.real() : std::expm1(x) * std::cos(y) - 2 * half * half,
       power.imag()});
}

Complex log(Complex z) { return narrow(std::log(wide(z))); }

/// x^2 as the sum of two values.
static Long square(Long x, Long &rest) {
  const Long product = x * x;
  rest = std::fma(x, x, -product);
  return product;
}

/// Adds \p value to \p sum, and the rounding error to \p rest (D. E. Knuth, The
/// Art of Computer Programming 2, section 4.2.2).
static void addExactly(Long &sum, Long &rest, Long value) {
  const Long before = sum;
  sum += value;
  const Long share = sum - before;
  rest += (before - (sum - share)) + (value - share);
}

Complex log1p(Complex z) {
  const Long x = z.real(), y = z.imag(), length = std::hypot(1 + x, y);
  const Long angle = std::atan2(y, 1 + x);
  if (!(length > 0.5L && length < 2))
    return narrow({std::log(length), angle});
  // |1 + z|^2 - 1 = 2 x + x^2 + y^2, whose terms may cancel.
  Long restX, restY, rest = 0, sum = 2 * x;
  addExactly(sum, rest, square(x, restX));
  addExactly(sum, rest, square(y, restY));
  return narrow({std::log1p(sum + (rest + restX + restY)) / 2, angle});
}

Complex sqrt(Complex z) { return narrow(std::sqrt(wide(z))); }
Complex rsqrt(Complex z) { return narrow(Long(1) / std::sqrt(wide(z))); }
Complex cbrt(Complex z) {
  return z == 0.0 ? z : narrow(std::pow(wide(z), Long(1) / 3));
}
Complex cos(Complex z) { return narrow(std::cos(wide(z))); }
Complex sin(Complex z) { return narrow(std::sin(wide(z))); }
Complex tan(Complex z) { return narrow(std::tan(wide(z))); }
Complex tanh(Complex z) { return narrow(std::tanh(wide(z))); }

Complex logistic(Complex z) {
  return narrow(Long(1) / (Long(1) + wideExp(-wide(z))));
}

Complex sign(Complex z) {
  return z == 0.0 ? Complex() : narrow(wide(z) / std::abs(wide(z)));
}

Complex divide(Complex a, Complex b) { return narrow(wide(a) / wide(b)); }

Complex power(Complex a, Complex b) {
  if (a == 0.0)
    return b == 0.0 ? 1.0 : 0.0;
  return narrow(std::pow(wide(a), wide(b)));
}

Complex atan2(Complex a, Complex b) {
  const Wide i(0, 1), y = wide(a), x = wide(b);
  return narrow(-i * std::log((x + i * y) / std::sqrt(y * y + x * x)));
}

} // namespace sinter::interpreter::complexmath
