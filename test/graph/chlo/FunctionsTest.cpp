// The special functions of chlo, built from stablehlo and run by the oracle,
// against the same functions in long double over swept arguments.
//
// Covers: graph/chlo Bessel Bits Broadcasting ComplexFunctions
// Covers: graph/chlo DecomposeStructured ErrorFunctions GammaFunctions Series
// Covers: graph/chlo Trigonometric Zeta
// Covers: interpreter ChloOperations KnownCalls CustomCalls

#include "graph/chlo/FunctionCheck.h"

#include <array>

using namespace sinter;
using namespace sinter::functioncheck;

namespace {

/// \p count values from \p low to \p high, evenly spread.
template <typename T> std::vector<T> sweep(Long low, Long high, int count) {
  std::vector<T> values;
  for (int i = 0; i < count; ++i)
    values.push_back(static_cast<T>(low + (high - low) * i / (count - 1)));
  return values;
}

/// Values of every magnitude and both signs, zeros and infinities.
template <typename T> std::vector<T> magnitudes() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values = {0, T(-0.0), Limits::infinity(), -Limits::infinity()};
  for (int exponent = Limits::min_exponent - 1; exponent < Limits::max_exponent;
       exponent += Limits::digits / 4)
    for (T mantissa : {T(1), T(1.25), T(1.7)}) {
      values.push_back(std::ldexp(mantissa, exponent));
      values.push_back(-std::ldexp(mantissa, exponent));
    }
  return values;
}

/// The same check for f32 and f64, of values from \p low to \p high.
template <typename Reference>
void checkReal(const std::string &op, Reference reference, Long low, Long high,
               uint64_t ulps, double absolute = 0) {
  check(op, sweep<float>(low, high, 997), reference, ulps, absolute);
  check(op, sweep<double>(low, high, 997), reference, ulps, absolute * 1e-8);
}
template <typename Reference>
void checkMagnitudes(const std::string &op, Reference reference,
                     uint64_t ulps) {
  check(op, magnitudes<float>(), reference, ulps);
  check(op, magnitudes<double>(), reference, ulps);
}

#define REFERENCE(expression) [](Long x) -> Long { return expression; }

TEST(ChloFunctions, InverseCircular) {
  checkReal("chlo.asin", REFERENCE(asinl(x)), -1.1, 1.1, 3);
  checkReal("chlo.acos", REFERENCE(acosl(x)), -1.1, 1.1, 3);
  checkReal("chlo.atan", REFERENCE(atanl(x)), -4, 4, 2);
  checkMagnitudes("chlo.asin", REFERENCE(asinl(x)), 3);
  checkMagnitudes("chlo.acos", REFERENCE(acosl(x)), 3);
  checkMagnitudes("chlo.atan", REFERENCE(atanl(x)), 2);
  check<double>("chlo.acos", {-1, 1}, REFERENCE(acosl(x)), 0);
}

TEST(ChloFunctions, Hyperbolic) {
  checkReal("chlo.asinh", REFERENCE(asinhl(x)), -4, 4, 3);
  checkReal("chlo.acosh", REFERENCE(acoshl(x)), 0.5, 4, 3);
  checkReal("chlo.atanh", REFERENCE(atanhl(x)), -1.01, 1.01, 3);
  // The defined formula loses |x| / 2 units in the last place.
  check("chlo.sinh", sweep<float>(-89.4, 89.4, 999), REFERENCE(sinhl(x)), 64);
  check("chlo.cosh", sweep<float>(-89.4, 89.4, 999), REFERENCE(coshl(x)), 64);
  check("chlo.sinh", sweep<double>(-711, 711, 999), REFERENCE(sinhl(x)), 3);
  check("chlo.cosh", sweep<double>(-711, 711, 999), REFERENCE(coshl(x)), 3);
  checkMagnitudes("chlo.asinh", REFERENCE(asinhl(x)), 3);
  checkMagnitudes("chlo.acosh", REFERENCE(acoshl(x)), 3);
  checkMagnitudes("chlo.atanh", REFERENCE(atanhl(x)), 3);
  checkMagnitudes("chlo.sinh", REFERENCE(sinhl(x)), 64);
  checkMagnitudes("chlo.cosh", REFERENCE(coshl(x)), 64);
}

TEST(ChloFunctions, Error) {
  checkReal("chlo.erf", REFERENCE(erfl(x)), -7, 7, 2);
  checkReal("chlo.erfc", REFERENCE(erfcl(x)), -6, 9, 5);
  check("chlo.erfc", sweep<double>(9, 26, 999), REFERENCE(erfcl(x)), 5);
  checkMagnitudes("chlo.erf", REFERENCE(erfl(x)), 2);
}

/// By Newton's method in long double.
Long erfInverse(Long x) {
  if (std::isnan(x) || fabsl(x) > 1)
    return NAN;
  if (fabsl(x) == 1)
    return copysignl(INFINITY, x);
  const Long rest = 1 - fabsl(x);
  Long y = sqrtl(-logl((1 - x) * (1 + x))) * 0.9L;
  for (int i = 0; i < 100; ++i) {
    const Long error = y < 0.5L ? erfl(y) - fabsl(x) : rest - erfcl(y);
    const Long step = error * sqrtl(M_PIl) / 2 * expl(y * y);
    y -= step / (1 + y * step);
  }
  return copysignl(y, x);
}

TEST(ChloFunctions, ErrorInverse) {
  checkReal("chlo.erf_inv", erfInverse, -0.9998, 0.9998, 4);
  check<double>("chlo.erf_inv",
                {-1, 1, 0, 1e-300, 1 - 1e-12, 1 - 0x1p-53, 0x1p-53 - 1, 2},
                erfInverse, 8);
}

TEST(ChloFunctions, LogGamma) {
  auto reference = REFERENCE(lgammal(x));
  checkReal("chlo.lgamma", reference, 0.01, 12, 8);
  checkReal("chlo.lgamma", reference, 12, 300, 3);
  // Near its zeros of negative arguments only the difference is small.
  checkReal("chlo.lgamma", reference, -20, -0.001, 8, 1e-5);
  check<double>("chlo.lgamma",
                {0, -1, -7, 1, 2, 1e300, 1e-300, INFINITY, -INFINITY},
                reference, 3);
}

/// DLMF 5.5.2 and 5.11.2 in long double.
Long digamma(Long x) {
  if (x < 0)
    return digamma(1 - x) - M_PIl / tanl(M_PIl * (x - roundl(x)));
  Long sum = 0;
  for (; x < 40; ++x)
    sum -= 1 / x;
  const Long u = 1 / (x * x);
  return sum + logl(x) - 1 / (2 * x) -
         u * (1 / 12.0L -
              u * (1 / 120.0L -
                   u * (1 / 252.0L - u * (1 / 240.0L - u / 132.0L))));
}

TEST(ChloFunctions, Digamma) {
  checkReal("chlo.digamma", digamma, 0.01, 20, 5, 1e-9);
  checkReal("chlo.digamma", digamma, 20, 1000, 3);
  checkReal("chlo.digamma", digamma, -10.3, -0.01, 8, 1e-4);
  for (double pole : {0.0, -0.0, -3.0})
    check<double>("chlo.digamma", {pole}, REFERENCE(Long(NAN)), 0);
}

TEST(ChloFunctions, Bessel) {
  auto reference = [](Long x) -> Long {
    return copysignl(std::cyl_bessel_il(1, fabsl(x)) * expl(-fabsl(x)), x);
  };
  checkReal("chlo.bessel_i1e", reference, -40, 40, 8);
}

TEST(ChloFunctions, ZetaAndPolygamma) {
  for (auto [s, q, expected] : {
           // DLMF 25.6.1: pi^2 / 6, pi^4 / 90; 25.11.
           std::array<double, 3>{2, 1, 1.6449340668482264},
           {4, 1, 1.0823232337111382},
           {2, 0.5, 4.934802200544679},
           {1.5, 2.5, 1.4037797688568258},
           {20, 3, 2.8771746654611315e-10},
           {1, 3, INFINITY},
           {0.5, 3, NAN},
           {2, -1, INFINITY},
           {3, -1, NAN},
           // By the terms below zero one by one, and DLMF 25.11.
           {2, -9.5, 9.769687445030232},
           {2, -30.25, 19.70669134196305},
           {3, -12.75, 62.01539730707912},
           {2, -10, INFINITY},
           {2.5, -10.5, NAN},
       }) {
    Tensor got =
        run("chlo.zeta", {tensorOf<double>({s}), tensorOf<double>({q})}, "f64");
    const double value = got.at<double>(0);
    if (std::isnan(expected))
      EXPECT_TRUE(std::isnan(value)) << s << " " << q;
    else if (std::isinf(expected))
      EXPECT_EQ(value, expected);
    else
      EXPECT_NEAR(value, expected, std::fabs(expected) * 1e-10)
          << s << " " << q;
  }
  for (auto [n, x, expected] : {
           std::array<double, 3>{1, 1, 1.6449340668482264},
           {2, 1, -2.4041138063191886},
           {0, 1, -0.5772156649015329},
           {3, 0.5, 97.40909103400244},
           {1.5, 1, NAN},
           {-1, 1, NAN},
       }) {
    Tensor got = run("chlo.polygamma",
                     {tensorOf<double>({n}), tensorOf<double>({x})}, "f64");
    const double value = got.at<double>(0);
    if (std::isnan(expected))
      EXPECT_TRUE(std::isnan(value)) << n << " " << x;
    else
      EXPECT_NEAR(value, expected, std::fabs(expected) * 1e-13)
          << n << " " << x;
  }
}

TEST(ChloFunctions, NextAfter) {
  auto checkNext = [](auto zero) {
    using T = decltype(zero);
    using Limits = std::numeric_limits<T>;
    const T inf = Limits::infinity();
    std::vector<T> ends = {0,
                           T(-0.0),
                           1,
                           -1,
                           Limits::denorm_min(),
                           -Limits::denorm_min(),
                           Limits::max(),
                           -Limits::max(),
                           Limits::min(),
                           inf,
                           -inf,
                           Limits::quiet_NaN()};
    std::vector<T> x, y, expected;
    for (T from : ends)
      for (T to : ends) {
        x.push_back(from);
        y.push_back(to);
        expected.push_back(std::nextafter(from, to));
      }
    Tensor got = run("chlo.next_after", {tensorOf(x), tensorOf(y)},
                     sizeof(T) == 4 ? "f32" : "f64");
    Tensor wanted = tensorOf(expected);
    for (int64_t i = 0; i < got.size(); ++i)
      EXPECT_EQ(ulpDistance(got, wanted, i), 0u) << x[i] << " " << y[i];
  };
  checkNext(0.0f);
  checkNext(0.0);
}

TEST(ChloFunctions, Complex) {
  checkComplex("chlo.asin", COMPLEX(std::asin(z)), 3);
  checkComplex("chlo.acos", COMPLEX(std::acos(z)), 3);
  checkComplex("chlo.asinh", COMPLEX(std::asinh(z)), 3);
  checkComplex("chlo.acosh", COMPLEX(std::acosh(z)), 3);
  checkComplex("chlo.atan", COMPLEX(std::atan(z)), 3);
  checkComplex("chlo.atanh", COMPLEX(std::atanh(z)), 3);
  checkComplex("chlo.square", COMPLEX(z * z), 3);
  checkComplex("chlo.conj", COMPLEX(std::conj(z)), 0);
}

} // namespace
