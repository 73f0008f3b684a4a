//===- Fourier.h - discrete Fourier transforms ----------------------------===//

#ifndef SINTER_INTERPRETER_FOURIER_H
#define SINTER_INTERPRETER_FOURIER_H

#include <complex>
#include <memory>
#include <span>
#include <vector>

namespace sinter::interpreter {

/// The transform of sequences of one length, any length, in O(n log n): sum
/// over j of x[j] exp(-2 pi i j k / n), or with +2 pi i, not divided by n.
/// Small factors by Cooley and Tukey ("An algorithm for the machine calculation
/// of complex Fourier series", 1965), large prime ones by Bluestein's
/// convolution
/// ("A linear filtering approach to the computation of the discrete Fourier
/// transform", 1970).
class Fourier {
public:
  using Complex = std::complex<double>;

  /// \p length is positive.
  Fourier(size_t length, bool inverse);

  /// Transforms \p values, `length` of them, in place.
  void run(std::span<Complex> values);

private:
  void combine(const Complex *from, size_t step, Complex *to, size_t length,
               size_t factorIndex);
  void runBluestein(std::span<Complex> values);

  size_t length;
  bool inverse;
  std::vector<size_t> factors;
  /// exp(-2 pi i k / length), or with +.
  std::vector<Complex> roots;
  std::vector<Complex> input;

  /// Of Bluestein's convolution; empty where the factors are small.
  std::vector<Complex> chirp, chirpTransform;
  std::unique_ptr<Fourier> forward, backward;
};

} // namespace sinter::interpreter

#endif // SINTER_INTERPRETER_FOURIER_H
