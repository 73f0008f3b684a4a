//===- Fft.cpp - discrete Fourier transforms of any length ----------------===//

#include "runtime/host/Builtin.h"
#include "runtime/host/Matrices.h"

#include <cmath>
#include <memory>
#include <numbers>

namespace sinter::host {

namespace {

using Complex = std::complex<double>;

/// e^(-2 pi i k / n), with the angle brought into the first octant so that the
/// symmetries hold exactly.
Complex rootOfUnity(int64_t k, int64_t n) {
  k %= n;
  // Eighths of the circle: the angle is pi / 4 * (eighth + rest / n).
  const int64_t eighth = 8 * k / n, rest = 8 * k - eighth * n;
  const int64_t near = eighth % 2 == 0 ? rest : n - rest;
  const double angle = std::numbers::pi / 4 * double(near) / double(n);
  double c = std::cos(angle), s = std::sin(angle);
  if (eighth % 4 == 1 || eighth % 4 == 2)
    std::swap(c, s);
  if (eighth >= 2 && eighth <= 5)
    c = -c;
  if (eighth >= 4)
    s = -s;
  return {c, -s};
}

/// A transform of one length.
class Transform {
public:
  explicit Transform(int64_t length) : length(length) {
    for (int64_t rest = length, factor = 2; rest > 1;) {
      if (rest % factor != 0) {
        factor = factor * factor > rest ? rest : factor + 1;
        continue;
      }
      factors.push_back(factor);
      rest /= factor;
    }
    roots.resize(length);
    for (int64_t k = 0; k < length; ++k)
      roots[k] = rootOfUnity(k, length);
    if (!factors.empty() && factors.back() > largestFactor)
      prepareChirp();
  }

  /// out[k] = sum over j of in[j] e^(-2 pi i j k / length).
  void run(const Complex *in, Complex *out) const {
    if (convolution)
      return runChirp(in, out);
    mixed(in, 1, out, length, 0);
  }

private:
  /// For larger lengths, direct sums are slower than a convolution.
  static constexpr int64_t largestFactor = 40;

  /// Decimation in time: transforms of every p-th element are combined.
  void mixed(const Complex *in, int64_t stride, Complex *out, int64_t n,
             size_t next) const {
    if (n == 1) {
      out[0] = in[0];
      return;
    }
    const int64_t p = factors[next], m = n / p, step = length / n;
    for (int64_t q = 0; q < p; ++q)
      mixed(in + q * stride, stride * p, out + q * m, m, next + 1);
    if (p == 2) {
      for (int64_t k = 0; k < m; ++k) {
        const Complex a = out[k], b = product(out[m + k], roots[k * step]);
        out[k] = a + b;
        out[m + k] = a - b;
      }
      return;
    }
    Complex terms[largestFactor];
    for (int64_t k = 0; k < m; ++k) {
      for (int64_t q = 0; q < p; ++q)
        terms[q] = product(out[q * m + k], roots[q * k * step]);
      for (int64_t r = 0; r < p; ++r) {
        Complex sum = terms[0];
        for (int64_t q = 1; q < p; ++q)
          sum += product(terms[q], roots[q * r % p * (length / p)]);
        out[r * m + k] = sum;
      }
    }
  }

  /// Without the standard's treatment of infinities.
  static Complex product(Complex a, Complex b) {
    return {a.real() * b.real() - a.imag() * b.imag(),
            a.real() * b.imag() + a.imag() * b.real()};
  }

  /// L. Bluestein: jk = (j^2 + k^2 - (k - j)^2) / 2 makes the transform a
  /// convolution with a chirp, of any greater length.
  void prepareChirp() {
    int64_t size = 1;
    while (size < 2 * length - 1)
      size *= 2;
    convolution = std::make_unique<Transform>(size);
    chirp.resize(length);
    std::vector<Complex> kernel(size);
    for (int64_t k = 0; k < length; ++k) {
      // k^2 modulo 2 length, without overflow.
      const auto square = static_cast<int64_t>(
          static_cast<unsigned __int128>(k) * k % (2 * length));
      chirp[k] = rootOfUnity(square, 2 * length);
      kernel[k] = std::conj(chirp[k]);
      if (k != 0)
        kernel[size - k] = std::conj(chirp[k]);
    }
    kernelTransform.resize(size);
    convolution->run(kernel.data(), kernelTransform.data());
  }

  void runChirp(const Complex *in, Complex *out) const {
    const int64_t size = convolution->length;
    std::vector<Complex> signal(size), spectrum(size);
    for (int64_t k = 0; k < length; ++k)
      signal[k] = product(in[k], chirp[k]);
    convolution->run(signal.data(), spectrum.data());
    // The inverse by conjugating before and after.
    for (int64_t k = 0; k < size; ++k)
      signal[k] = std::conj(product(spectrum[k], kernelTransform[k]));
    convolution->run(signal.data(), spectrum.data());
    for (int64_t k = 0; k < length; ++k)
      out[k] = product(std::conj(spectrum[k]) / double(size), chirp[k]);
  }

  int64_t length;
  std::vector<int64_t> factors;
  std::vector<Complex> roots;
  std::unique_ptr<Transform> convolution;
  std::vector<Complex> chirp, kernelTransform;
};

enum Kind { Forward, Inverse, RealForward, RealInverse };

/// All rows of \p data along the dimension of \p size elements with \p inner
/// elements between neighbours.
void transformAlong(std::vector<Complex> &data, int64_t size, int64_t inner,
                    bool isInverse) {
  const Transform transform(size);
  std::vector<Complex> in(size), out(size);
  const auto total = static_cast<int64_t>(data.size());
  for (int64_t outer = 0; outer < total; outer += size * inner)
    for (int64_t i = 0; i < inner; ++i) {
      Complex *row = data.data() + outer + i;
      for (int64_t k = 0; k < size; ++k)
        in[k] = isInverse ? std::conj(row[k * inner]) : row[k * inner];
      transform.run(in.data(), out.data());
      for (int64_t k = 0; k < size; ++k)
        row[k * inner] = isInverse ? std::conj(out[k]) / double(size) : out[k];
    }
}

/// Completes the half spectrum of a real signal: element k of the last
/// dimension is the conjugate of the one at minus k in all transformed
/// dimensions.
std::vector<Complex> completed(const std::vector<Complex> &half, int64_t outer,
                               std::span<const int64_t> lengths) {
  const int64_t last = lengths.back(), kept = last / 2 + 1;
  int64_t rows = 1;
  for (int64_t length : lengths.first(lengths.size() - 1))
    rows *= length;
  std::vector<Complex> whole(outer * rows * last);
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t row = 0; row < rows; ++row) {
      // The row at the negated index.
      int64_t mirror = 0, rest = row, stride = 1;
      for (size_t i = lengths.size() - 1; i-- > 0; stride *= lengths[i]) {
        const int64_t index = rest % lengths[i];
        rest /= lengths[i];
        mirror += (lengths[i] - index) % lengths[i] * stride;
      }
      const Complex *here = half.data() + (o * rows + row) * kept;
      const Complex *there = half.data() + (o * rows + mirror) * kept;
      for (int64_t k = 0; k < last; ++k)
        whole[(o * rows + row) * last + k] =
            k < kept ? here[k] : std::conj(there[last - k]);
    }
  return whole;
}

} // namespace

Result<void> fft(const HostCall &call) {
  const Tensor &input = call.inputs[0];
  Tensor &output = call.outputs[0];
  const HostConfiguration configuration(call.configuration);
  const auto kind = static_cast<Kind>(configuration.number("kind"));
  const auto lengths = configuration.numbers("lengths");
  const int64_t rank = input.rank();
  if (!lengths || lengths->empty() ||
      static_cast<int64_t>(lengths->size()) > rank)
    return invalidModel("fft: the lengths do not fit the operand");
  if (output.size() == 0)
    return {};
  int64_t points = 1;
  for (int64_t length : *lengths)
    points *= length;
  std::vector<Complex> data = load<Complex>(input, 0, input.size());
  const bool isInverse = kind == Inverse || kind == RealInverse;
  if (kind == RealInverse)
    data = completed(data, output.size() / points, *lengths);
  int64_t inner = 1;
  for (size_t i = lengths->size(); i-- > 0; inner *= (*lengths)[i])
    transformAlong(data, (*lengths)[i], inner, isInverse);
  if (kind == RealForward) {
    // Only the half that symmetry does not give.
    const int64_t last = lengths->back(), kept = last / 2 + 1;
    std::vector<Complex> half;
    half.reserve(data.size() / last * kept);
    for (size_t row = 0; row < data.size(); row += last)
      half.insert(half.end(), data.begin() + row, data.begin() + row + kept);
    data = std::move(half);
  }
  store(output, 0, data);
  return {};
}

} // namespace sinter::host
