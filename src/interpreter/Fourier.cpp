//===- Fourier.cpp - discrete Fourier transforms --------------------------===//

#include "interpreter/Fourier.h"

#include <array>
#include <bit>
#include <cmath>
#include <numbers>

namespace sinter::interpreter {

/// The largest factor that is transformed directly.
static constexpr size_t largestFactor = 31;

/// exp(2 pi i k / n), or with -2; k is below n.
static Fourier::Complex root(size_t k, size_t n, bool inverse) {
  const long double angle = 2 * std::numbers::pi_v<long double> *
                            static_cast<long double>(k) /
                            static_cast<long double>(n);
  const auto imaginary = static_cast<double>(std::sin(angle));
  return {static_cast<double>(std::cos(angle)),
          inverse ? imaginary : -imaginary};
}

Fourier::Fourier(size_t length, bool inverse)
    : length(length), inverse(inverse) {
  size_t rest = length;
  for (size_t factor : {4, 2, 3, 5})
    for (; rest % factor == 0; rest /= factor)
      factors.push_back(factor);
  for (size_t factor = 7; factor <= largestFactor; factor += 2)
    for (; rest % factor == 0; rest /= factor)
      factors.push_back(factor);
  if (rest == 1) {
    roots.reserve(length);
    for (size_t k = 0; k < length; ++k)
      roots.push_back(root(k, length, inverse));
    input.resize(length);
    return;
  }
  // j k = (j^2 + k^2 - (k - j)^2) / 2 makes the transform a convolution with
  // exp(-pi i j^2 / n), which is computed at a length that is a power of two.
  const size_t padded = std::bit_ceil(2 * length - 1);
  forward = std::make_unique<Fourier>(padded, false);
  backward = std::make_unique<Fourier>(padded, true);
  chirp.resize(length);
  chirpTransform.assign(padded, 0.0);
  size_t square = 0; // j^2 modulo 2 n.
  for (size_t j = 0; j < length; ++j) {
    chirp[j] = root(square, 2 * length, inverse);
    chirpTransform[j] = std::conj(chirp[j]);
    chirpTransform[(padded - j) % padded] = std::conj(chirp[j]);
    square = (square + 2 * j + 1) % (2 * length);
  }
  forward->run(chirpTransform);
}

/// (a + bi)(c + di) without the checks for infinities of operator*.
static Fourier::Complex product(Fourier::Complex a, Fourier::Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(),
          a.real() * b.imag() + a.imag() * b.real()};
}

/// A transform of four values, given with their twiddle factors applied.
static void fourTerms(const Fourier::Complex *terms, bool inverse,
                      Fourier::Complex *to, size_t subLength) {
  using Complex = Fourier::Complex;
  const Complex evenSum = terms[0] + terms[2],
                evenDifference = terms[0] - terms[2];
  const Complex oddSum = terms[1] + terms[3], odd = terms[1] - terms[3];
  // odd times -i, or i.
  const Complex rotated = inverse ? Complex(-odd.imag(), odd.real())
                                  : Complex(odd.imag(), -odd.real());
  to[0] = evenSum + oddSum;
  to[subLength] = evenDifference + rotated;
  to[2 * subLength] = evenSum - oddSum;
  to[3 * subLength] = evenDifference - rotated;
}

/// Transforms the \p count values that are \p step apart in \p from.
void Fourier::combine(const Complex *from, size_t step, Complex *to,
                      size_t count, size_t factorIndex) {
  if (count == 1) {
    *to = *from;
    return;
  }
  const size_t factor = factors[factorIndex], subLength = count / factor;
  for (size_t f = 0; f < factor; ++f)
    combine(from + f * step, step * factor, to + f * subLength, subLength,
            factorIndex + 1);
  std::array<Complex, largestFactor> terms;
  for (size_t k = 0; k < subLength; ++k) {
    // The root's index f * k * step is below factor * subLength * step =
    // length.
    terms[0] = to[k];
    for (size_t f = 1; f < factor; ++f)
      terms[f] = product(to[f * subLength + k], roots[f * k * step]);
    if (factor == 2) {
      to[k] = terms[0] + terms[1];
      to[subLength + k] = terms[0] - terms[1];
      continue;
    }
    if (factor == 4) {
      fourTerms(terms.data(), inverse, to + k, subLength);
      continue;
    }
    for (size_t q = 0; q < factor; ++q) {
      Complex sum = terms[0];
      for (size_t f = 1; f < factor; ++f)
        sum += product(terms[f], roots[f * q % factor * (length / factor)]);
      to[q * subLength + k] = sum;
    }
  }
}

void Fourier::runBluestein(std::span<Complex> values) {
  std::vector<Complex> padded(chirpTransform.size());
  for (size_t j = 0; j < length; ++j)
    padded[j] = product(values[j], chirp[j]);
  forward->run(padded);
  for (size_t j = 0; j < padded.size(); ++j)
    padded[j] = product(padded[j], chirpTransform[j]);
  backward->run(padded);
  const auto scale = 1.0 / static_cast<double>(padded.size());
  for (size_t k = 0; k < length; ++k)
    values[k] = product(padded[k], chirp[k]) * scale;
}

void Fourier::run(std::span<Complex> values) {
  if (forward)
    return runBluestein(values);
  std::copy(values.begin(), values.end(), input.begin());
  combine(input.data(), 1, values.data(), length, 0);
}

} // namespace sinter::interpreter
