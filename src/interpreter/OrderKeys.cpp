//===- OrderKeys.cpp - comparing elements of any real type ----------------===//

#include "interpreter/OrderKeys.h"
#include "interpreter/Numbers.h"

#include <bit>
#include <cmath>
#include <limits>

namespace sinter::interpreter {

/// The bits of a double are ordered like sign and magnitude.
static int64_t keyOf(double value) {
  if (std::isnan(value))
    return std::numeric_limits<int64_t>::max();
  const auto bits = std::bit_cast<int64_t>(value + 0.0);
  return bits < 0 ? -(bits & std::numeric_limits<int64_t>::max()) : bits;
}

std::vector<int64_t> orderKeys(const Tensor &tensor) {
  if (isInteger(tensor.type())) {
    std::vector<int64_t> keys = integers(tensor);
    if (tensor.type() == ElementType::UI64)
      for (int64_t &key : keys)
        key ^= std::numeric_limits<int64_t>::min();
    return keys;
  }
  std::vector<int64_t> keys(tensor.size());
  double buffer[chunkSize];
  inChunks(tensor.size(), [&](int64_t begin, int64_t count) {
    loadReals(tensor, begin, std::span(buffer, size_t(count)));
    for (int64_t i = 0; i < count; ++i)
      keys[begin + i] = keyOf(buffer[i]);
  });
  return keys;
}

} // namespace sinter::interpreter
