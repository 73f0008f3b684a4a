//===- FourierTest.cpp - transforms against their definition --------------===//

#include "interpreter/Fourier.h"
#include "Evaluate.h"

#include <numbers>

namespace sinter {
namespace {

using interpreter::Fourier;
using Complex = std::complex<double>;

/// Powers, mixed factors, primes small and large.
TEST(Fourier, IsTheSumOfItsDefinition) {
  for (size_t n : {1,  2,  3,  4,  5,  6,   8,   12,  16,  25,
                   31, 37, 60, 64, 97, 100, 127, 202, 257, 360})
    for (bool inverse : {false, true}) {
      std::vector<Complex> values(n), expected(n);
      for (size_t j = 0; j < n; ++j)
        values[j] = {std::sin(1.0 + double(j * j % 17)), std::cos(3.0 * j)};
      for (size_t k = 0; k < n; ++k)
        for (size_t j = 0; j < n; ++j)
          expected[k] += values[j] *
                         std::polar(1.0, (inverse ? 2 : -2) * std::numbers::pi *
                                             double(j * k % n) / double(n));
      Fourier(n, inverse).run(values);
      for (size_t k = 0; k < n; ++k)
        EXPECT_LT(std::abs(values[k] - expected[k]), 1e-12 * double(n))
            << n << " " << k;
    }
}

TEST(Fft, RealTransformAndBack) {
  Evaluated result = evaluateModule(R"(
    func.func @main() -> (tensor<2x2xcomplex<f32>>, tensor<2x3xf32>) {
      %x = stablehlo.constant dense<[[1.0, 2.0, 4.0], [0.0, -1.0, 3.0]]>
          : tensor<2x3xf32>
      %f = stablehlo.fft %x, type = RFFT, length = [3]
          : (tensor<2x3xf32>) -> tensor<2x2xcomplex<f32>>
      %r = stablehlo.fft %f, type = IRFFT, length = [3]
          : (tensor<2x2xcomplex<f32>>) -> tensor<2x3xf32>
      return %f, %r : tensor<2x2xcomplex<f32>>, tensor<2x3xf32>
    })");
  ASSERT_EQ(result.error, "");
  const auto dc = result.tensors[0].at<std::complex<float>>(0);
  EXPECT_FLOAT_EQ(dc.real(), 7);
  EXPECT_FLOAT_EQ(dc.imag(), 0);
  const auto first = result.tensors[0].at<std::complex<float>>(1);
  EXPECT_FLOAT_EQ(first.real(), -2);
  EXPECT_FLOAT_EQ(first.imag(), std::sqrt(3.0f));
  const std::vector<double> expected = {1, 2, 4, 0, -1, 3};
  for (size_t i = 0; i < 6; ++i)
    EXPECT_NEAR(result.doubles(1)[i], expected[i], 1e-6);
}

} // namespace
} // namespace sinter
