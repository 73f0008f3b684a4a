//===- Expectation.h - what a self-checking program expects ---------------===//

#ifndef SINTER_RUNTIME_EXPECTATION_H
#define SINTER_RUNTIME_EXPECTATION_H

#include "runtime/Tensor.h"

namespace sinter {

/// How a value is compared with what is expected, as the public test programs
/// of StableHLO mean it.
struct Expectation {
  enum class Kind {
    /// Equal as numbers: NaN equals nothing, -0 equals 0.
    Equal,
    /// |got - expected| <= tolerance in double, of complex numbers by the
    /// magnitude of the difference; NaN equals NaN, an infinity only itself.
    Almost,
    /// Almost for floating-point and complex numbers, Equal for others.
    AlmostOrEqual,
    /// minUlp <= d <= maxUlp, where d counts the representable values from one
    /// to the other: 0 for equal bits and for two NaNs, the largest uint64 if
    /// just one is finite or infinities differ; of a complex number the larger
    /// of its parts'.
    Close,
  };
  Kind kind = Kind::Equal;
  double tolerance = 0;
  uint64_t minUlp = 0, maxUlp = 0;

  static Expectation equal() { return {}; }
  static Expectation almost(double tolerance) {
    return {Kind::Almost, tolerance};
  }
  static Expectation almostOrEqual(double tolerance) {
    return {Kind::AlmostOrEqual, tolerance};
  }
  static Expectation close(uint64_t minUlp, uint64_t maxUlp) {
    return {Kind::Close, 0, minUlp, maxUlp};
  }
};

/// Whether \p got is as expected. The WrongResult error tells how many values
/// are not and shows the worst.
Result<void> expect(const Tensor &got, const Tensor &expected,
                    const Expectation &expectation);

/// The representable values from one element to the other; see
/// Expectation::Kind::Close. For floating-point and complex tensors of the same
/// type.
uint64_t ulpDistance(const Tensor &a, const Tensor &b, int64_t index);

} // namespace sinter

#endif // SINTER_RUNTIME_EXPECTATION_H
