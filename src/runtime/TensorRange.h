//===- TensorRange.h - the range of a tensor's values ---------------------===//

#ifndef SINTER_RUNTIME_TENSORRANGE_H
#define SINTER_RUNTIME_TENSORRANGE_H

#include "runtime/Tensor.h"

#include <cmath>
#include <limits>

namespace sinter {

struct TensorRange {
  /// Min and max without NaN, mean with it; NaN if there are no elements.
  double min = NAN, max = NAN, mean = NAN;
  /// The elements that were read.
  int64_t looked = 0;
};

/// Of all elements of \p tensor or, if there are more than \p most, of that
/// many at most, spread evenly.
TensorRange rangeOf(const Tensor &tensor,
                    int64_t most = std::numeric_limits<int64_t>::max());

} // namespace sinter

#endif // SINTER_RUNTIME_TENSORRANGE_H
