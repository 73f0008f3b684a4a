//===- Comparison.h - compares tensors with expected ones -----------------===//
//
// All comparisons of values use this: `test` and `compare` with expected
// outputs, programs that check themselves, and the verification of passes.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_COMPARISON_H
#define SINTER_RUNTIME_COMPARISON_H

#include "runtime/Tensor.h"

namespace sinter {

/// Floating-point (and complex) values are close where
///
///     |got - expected| <= absolute + ofRange * max|expected|
///                         + relative * |expected|
///
/// (the maximum is over the finite values) or where both are the same infinity
/// or both NaN; integers where they differ by `absolute` at most. The parts of
/// a complex number are two values.
struct Tolerance {
  /// As ONNX's own test runner.
  double relative = 1e-3;
  double absolute = 1e-7;
  double ofRange = 0;
};

/// How values are compared.
struct Expectation {
  /// All but the last are defined as StableHLO's public test programs do.
  enum class Kind {
    /// Equal as numbers: NaN equals nothing, -0 equals 0.
    Equal,
    /// |got - expected| <= tolerance.absolute in double, of each part of a
    /// complex number; NaN equals NaN, an infinity only itself. Equal for
    /// integers.
    Almost,
    /// Almost for floating-point and complex numbers, Equal for others.
    AlmostOrEqual,
    /// minUlp <= d <= maxUlp, where d counts the representable values from one
    /// to the other: 0 for equal bits and for two NaNs, the largest uint64 if
    /// just one is finite or infinities differ; of a complex number the larger
    /// of its parts'. Equal for integers.
    Close,
    /// By Tolerance.
    Within,
  };
  Kind kind = Kind::Equal;
  Tolerance tolerance = {0, 0, 0};
  uint64_t minUlp = 0, maxUlp = 0;

  static Expectation equal() { return {}; }
  static Expectation almost(double tolerance) {
    return {Kind::Almost, {0, tolerance, 0}};
  }
  static Expectation almostOrEqual(double tolerance) {
    return {Kind::AlmostOrEqual, {0, tolerance, 0}};
  }
  static Expectation close(uint64_t minUlp, uint64_t maxUlp) {
    return {Kind::Close, {0, 0, 0}, minUlp, maxUlp};
  }
  static Expectation within(const Tolerance &tolerance) {
    return {Kind::Within, tolerance};
  }
};

/// The difference between a tensor and the expected one.
struct Difference {
  /// Elements out of tolerance.
  int64_t wrong = 0;
  /// The one of them that exceeds its tolerance the most.
  int64_t worst = 0;
  /// For tensors of the same type, if requested: the representable values (ULP)
  /// between the worst element and the expected one.
  uint64_t steps = 0;
  /// The largest |got - expected| over all elements, those within tolerance
  /// too, in double; infinite if only one is finite. And its index.
  double largest = 0;
  int64_t furthest = 0;
  /// The largest finite |expected|.
  double magnitude = 0;

  /// `largest` relative to `magnitude`; infinite if that is 0 and there is a
  /// difference.
  double ofRange() const;
};

/// How similar a tensor is to the expected one as a whole, as real numbers: the
/// signal-to-quantisation-noise ratio and the cosine similarity. Elements that
/// are the same infinity in both, or NaN in both, do not count; where one alone
/// is finite, the noise is infinite.
struct Similarity {
  /// Sums over elements, those of tensors compared one after the other.
  double signal = 0, noise = 0, product = 0, power = 0;
  /// How many elements count.
  uint64_t elements = 0;

  void add(const Similarity &other);
  /// 10 log10(sum of expected^2 / sum of (got - expected)^2); infinite without
  /// noise, minus infinity without a signal or with infinite noise.
  double decibels() const;
  /// From -1 to 1; 1 if both are zero, and 0 if one is or the noise is not
  /// finite.
  double cosine() const;
};

/// The similarity of two tensors of the same shape; both are complex or neither
/// is. \p ofFinite: elements that are not finite in \p expected do not count,
/// whatever \p got has: masks, say, that no integer can express.
Similarity similarityOf(const Tensor &got, const Tensor &expected,
                        bool ofFinite = false);

/// Compares two tensors of the same shape element by element. Their types must
/// be the same for Close and of strings, which are equal or 1 apart; else both
/// are complex or neither is.
Difference differenceOf(const Tensor &got, const Tensor &expected,
                        const Expectation &wanted);

/// Whether \p got is as expected, its type and shape included. The WrongResult
/// error has the number of wrong values and the worst one.
Result<void> expect(const Tensor &got, const Tensor &expected,
                    const Expectation &wanted);

/// "3 of 8 values differ, most at [0, 2]: got 1, expected 2", for tensors whose
/// \p difference is not zero.
std::string differenceText(const Tensor &got, const Tensor &expected,
                           const Difference &difference);

/// The elements furthest from the expected ones, at most \p most and only those
/// that differ, the furthest first. For tensors as in differenceOf().
std::vector<int64_t> furthestElements(const Tensor &got, const Tensor &expected,
                                      size_t most);

/// The representable values from one element to the other; see
/// Expectation::Kind::Close. For floating-point and complex tensors of the same
/// type.
uint64_t ulpDistance(const Tensor &a, const Tensor &b, int64_t index);

} // namespace sinter

#endif // SINTER_RUNTIME_COMPARISON_H
