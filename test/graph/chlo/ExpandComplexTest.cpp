// The complex functions of stablehlo in real arithmetic, run by the oracle,
// against the same functions in long double.
//
// Covers: passes ExpandComplex

#include "graph/chlo/FunctionCheck.h"

using namespace sinter::functioncheck;

namespace {

/// Arguments whose exponential is neither infinite nor zero.
template <typename T> std::vector<std::complex<T>> moderate() {
  std::vector<std::complex<T>> values;
  for (std::complex<T> z : plane<T>())
    if (std::abs(z.real()) < 80 && std::abs(z.imag()) < 1e4)
      values.push_back(z);
  return values;
}
template <typename Reference>
void checkModerate(const std::string &op, Reference reference, uint64_t ulps) {
  check(op, moderate<float>(), reference, ulps);
  check(op, moderate<double>(), reference, ulps);
}

LongComplex log1p(LongComplex z) {
  const Long x = z.real(), y = z.imag();
  const Long length = std::abs(z) < 0.5L ? std::log1p(2 * x + x * x + y * y) / 2
                                         : std::log(std::hypot(1 + x, y));
  return {length, std::arg(Long(1) + z)};
}

TEST(ExpandComplex, WholePlane) {
  checkComplex("stablehlo.log", COMPLEX(std::log(z)), 3);
  checkComplex("stablehlo.sqrt", COMPLEX(std::sqrt(z)), 3);
  check("stablehlo.log_plus_one", plane<float>(), log1p, 3);
  // Where 1 + z is as long as 1 but for 1e-32, the reference is 0.
  check("stablehlo.log_plus_one", plane<double>(), log1p, 3, 1e-30);
}

TEST(ExpandComplex, Powers) {
  checkModerate("stablehlo.exponential", COMPLEX(std::exp(z)), 3);
  checkModerate("stablehlo.sine", COMPLEX(std::sin(z)), 64);
  checkModerate("stablehlo.cosine", COMPLEX(std::cos(z)), 64);
  checkModerate("stablehlo.tanh", COMPLEX(std::tanh(z)), 6);
  checkModerate("stablehlo.tan", COMPLEX(std::tan(z)), 6);
  checkModerate("stablehlo.logistic",
                COMPLEX(Long(1) / (Long(1) + std::exp(-z))), 6);
}

} // namespace
