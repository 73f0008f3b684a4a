#include "runtime/TensorRange.h"

#include <algorithm>

namespace sinter {

TensorRange rangeOf(const Tensor &tensor, int64_t most) {
  TensorRange range;
  if (isString(tensor.type()))
    return range;
  most = std::max<int64_t>(most, 1);
  const int64_t stride =
      tensor.size() / most + (tensor.size() % most != 0 ? 1 : 0);
  double sum = 0;
  for (int64_t i = 0; i < tensor.size(); i += stride) {
    const double value = tensor.toDouble(i);
    sum += value;
    range.min = std::fmin(range.min, value);
    range.max = std::fmax(range.max, value);
    ++range.looked;
  }
  if (range.looked > 0)
    range.mean = sum / static_cast<double>(range.looked);
  return range;
}

} // namespace sinter
