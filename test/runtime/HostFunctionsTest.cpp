// Covers: runtime/host Checks Distribution Fft Lapack LapackEigen Matrices
// Covers: runtime/host Random

#include "runtime/HostFunctions.h"

#include <complex>
#include <gtest/gtest.h>
#include <numbers>
#include <random>

using namespace sinter;
using Complex = std::complex<double>;

namespace {

Tensor randomComplex(Shape shape, unsigned seed) {
  Tensor tensor(ElementType::C128, std::move(shape));
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.set(i, Complex(normal(generator), normal(generator)));
  return tensor;
}

Tensor call(std::string_view name, std::vector<Tensor> inputs, ElementType type,
            Shape shape, std::string_view configuration) {
  const HostFunction *function = findHostFunction(name);
  EXPECT_NE(function, nullptr);
  std::vector<Tensor> outputs = {Tensor(type, std::move(shape))};
  RandomStream random;
  Result<void> done =
      (*function)(HostCall{configuration, inputs, outputs, random});
  EXPECT_TRUE(bool(done));
  return outputs[0];
}

TEST(HostConfiguration, ReadsNumbersAndLists) {
  HostConfiguration configuration("lower=1;lengths=2,3;bad=x");
  EXPECT_EQ(configuration.number("lower"), 1);
  EXPECT_EQ(configuration.number("upper", 7), 7);
  EXPECT_EQ(*configuration.numbers("lengths"), (std::vector<int64_t>{2, 3}));
  EXPECT_FALSE(configuration.numbers("bad"));
}

TEST(HostFunctions, FindsWhatWasRegistered) {
  EXPECT_EQ(findHostFunction("test.unknown"), nullptr);
  registerHostFunction("test.known",
                       [](const HostCall &) -> Result<void> { return {}; });
  EXPECT_NE(findHostFunction("test.known"), nullptr);
}

TEST(HostFunctions, FftOfAnyLengthIsTheSum) {
  for (int64_t n : {1, 2, 3, 4, 5, 7, 8, 12, 30, 41, 43, 49, 64, 86, 97, 101}) {
    Tensor input = randomComplex({2, n}, n);
    Tensor output = call("sinter.fft", {input}, ElementType::C128, {2, n},
                         "kind=0;lengths=" + std::to_string(n));
    Tensor back = call("sinter.fft", {output}, ElementType::C128, {2, n},
                       "kind=1;lengths=" + std::to_string(n));
    for (int64_t row = 0; row < 2; ++row)
      for (int64_t k = 0; k < n; ++k) {
        Complex sum = 0;
        for (int64_t j = 0; j < n; ++j)
          sum += input.at<Complex>(row * n + j) *
                 std::polar(1.0, -2 * std::numbers::pi * double(j * k % n) / n);
        EXPECT_LT(std::abs(sum - output.at<Complex>(row * n + k)), 1e-12 * n);
        EXPECT_LT(std::abs(input.at<Complex>(row * n + k) -
                           back.at<Complex>(row * n + k)),
                  1e-13 * n);
      }
  }
}

TEST(HostFunctions, FftOfRealNumbersGoesThereAndBack) {
  for (auto [rows, n] : {std::pair<int64_t, int64_t>{3, 5}, {4, 6}, {1, 1}}) {
    Tensor input(ElementType::F64, {2, rows, n});
    for (int64_t i = 0; i < input.size(); ++i)
      input.set(i, std::sin(double(i * i)));
    const std::string lengths =
        "lengths=" + std::to_string(rows) + "," + std::to_string(n);
    Tensor half = call("sinter.fft", {input}, ElementType::C128,
                       {2, rows, n / 2 + 1}, "kind=2;" + lengths);
    Tensor back = call("sinter.fft", {half}, ElementType::F64, {2, rows, n},
                       "kind=3;" + lengths);
    for (int64_t i = 0; i < input.size(); ++i)
      EXPECT_NEAR(input.at<double>(i), back.at<double>(i), 1e-14);
  }
}

/// L with L L^H = a, or U with U^H U = a.
TEST(HostFunctions, CholeskyFactorsMultiplyToTheMatrix) {
  const int64_t n = 5;
  Tensor root = randomComplex({n, n}, 1), matrix(ElementType::C128, {n, n});
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) {
      Complex sum = 0;
      for (int64_t k = 0; k < n; ++k)
        sum += root.at<Complex>(i * n + k) *
               std::conj(root.at<Complex>(j * n + k));
      matrix.set(i * n + j, sum);
    }
  for (bool lower : {true, false}) {
    Tensor factor = call("sinter.cholesky", {matrix}, ElementType::C128, {n, n},
                         lower ? "lower=1" : "lower=0");
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j) {
        Complex sum = 0;
        for (int64_t k = 0; k < n; ++k)
          sum += lower ? factor.at<Complex>(i * n + k) *
                             std::conj(factor.at<Complex>(j * n + k))
                       : std::conj(factor.at<Complex>(k * n + i)) *
                             factor.at<Complex>(k * n + j);
        EXPECT_LT(std::abs(sum - matrix.at<Complex>(i * n + j)), 1e-12);
      }
  }
}

TEST(HostFunctions, TriangularSolutionsSolve) {
  const int64_t n = 4, m = 3;
  Tensor a = randomComplex({n, n}, 2);
  for (bool left : {false, true})
    for (bool lower : {false, true})
      for (bool unit : {false, true})
        for (int transpose : {0, 1, 2}) {
          Shape shape = left ? Shape{n, m} : Shape{m, n};
          Tensor b = randomComplex(shape, 3);
          std::string configuration = "left_side=" + std::to_string(left) +
                                      ";lower=" + std::to_string(lower) +
                                      ";unit_diagonal=" + std::to_string(unit) +
                                      ";transpose=" + std::to_string(transpose);
          Tensor x = call("sinter.triangular_solve", {a, b}, ElementType::C128,
                          shape, configuration);
          auto element = [&](int64_t i, int64_t j) -> Complex {
            if (transpose != 0)
              std::swap(i, j);
            if (i == j && unit)
              return 1;
            if (lower ? j > i : j < i)
              return 0;
            Complex value = a.at<Complex>(i * n + j);
            return transpose == 2 ? std::conj(value) : value;
          };
          for (int64_t i = 0; i < b.dim(0); ++i)
            for (int64_t j = 0; j < b.dim(1); ++j) {
              Complex sum = 0;
              for (int64_t k = 0; k < n; ++k)
                sum += left ? element(i, k) * x.at<Complex>(k * m + j)
                            : x.at<Complex>(i * n + k) * element(k, j);
              EXPECT_LT(std::abs(sum - b.at<Complex>(i * b.dim(1) + j)), 1e-9);
            }
        }
}

} // namespace
