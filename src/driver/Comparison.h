//===- Comparison.h - is a tensor what was expected? ----------------------===//

#ifndef SINTER_DRIVER_COMPARISON_H
#define SINTER_DRIVER_COMPARISON_H

#include "runtime/Tensor.h"

namespace sinter::driver {

struct Tolerance {
  /// As ONNX's own test runner.
  double relative = 1e-3;
  double absolute = 1e-7;
  /// Times the largest finite magnitude among the expected values.
  double ofRange = 0;
};

/// Floating-point (and complex) values pass where
///
///     |got - expected| <= absolute + ofRange * max|expected|
///                         + relative * |expected|
///
/// or where both are the same infinity or both NaN; integers where they differ
/// by `absolute` at most. The WrongResult error tells how many values differ
/// and shows the worst.
Result<void> compare(const Tensor &got, const Tensor &expected,
                     const Tolerance &tolerance);

} // namespace sinter::driver

#endif // SINTER_DRIVER_COMPARISON_H
