//===- Comparison.h - is a tensor what was expected? ----------------------===//
//
// Every comparison of values goes through here: that of `test` and `compare`
// with expected outputs, what a self-checking program says of itself, and what
// verification of passes sees before and after.
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

/// How a value is compared with what is expected.
struct Expectation {
  /// All but the last are as the public test programs of StableHLO mean them.
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
    /// As Tolerance says.
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

/// How far a tensor is from what is expected.
struct Difference {
  /// Elements that are not as expected.
  int64_t wrong = 0;
  /// The one of them that is furthest beyond what is allowed.
  int64_t worst = 0;
  /// Of two of the same type, where that is what was asked for: the
  /// representable values between the worst and what it should be.
  uint64_t steps = 0;
  /// The largest |got - expected| of all elements, good ones too, in double;
  /// infinite where only one is finite. And which element that is.
  double largest = 0;
  int64_t furthest = 0;
  /// The largest finite |expected|.
  double magnitude = 0;

  /// `largest` in parts of `magnitude`; infinite where that is 0 and there is
  /// a difference.
  double ofRange() const;
};

/// Compares two tensors of the same shape element by element. Their types must
/// be the same for Close; else both are complex or neither is.
Difference differenceOf(const Tensor &got, const Tensor &expected,
                        const Expectation &wanted);

/// Whether \p got is as expected, its type and shape included. The WrongResult
/// error tells how many values are not and shows the worst.
Result<void> expect(const Tensor &got, const Tensor &expected,
                    const Expectation &wanted);

/// "3 of 8 values differ, most at [0, 2]: got 1, expected 2", of tensors of
/// which \p difference is not none.
std::string differenceText(const Tensor &got, const Tensor &expected,
                           const Difference &difference);

/// The elements furthest from what is expected, \p most of them or as many as
/// differ at all, the furthest first. For tensors as in differenceOf().
std::vector<int64_t> furthestElements(const Tensor &got, const Tensor &expected,
                                      size_t most);

/// The representable values from one element to the other; see
/// Expectation::Kind::Close. For floating-point and complex tensors of the same
/// type.
uint64_t ulpDistance(const Tensor &a, const Tensor &b, int64_t index);

} // namespace sinter

#endif // SINTER_RUNTIME_COMPARISON_H
