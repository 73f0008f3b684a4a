//===- Tensor.cpp - a dense array with a type and a shape -----------------===//

#include "runtime/Tensor.h"
#include "runtime/ElementDispatch.h"
#include "runtime/OutOfMemory.h"
#include "runtime/Strings.h"

#include <cmath>
#include <cstdlib>
#include <limits>

namespace sinter {

namespace {

constexpr size_t tensorAlignment = 64;

/// Zeroed bytes at a multiple of tensorAlignment. calloc, because fresh pages
/// are zero already and need not be touched.
std::shared_ptr<const void> allocateBytes(size_t bytes) {
  void *block = std::calloc(bytes + tensorAlignment, 1);
  if (!block)
    refuseMemory(bytes);
  const auto address = reinterpret_cast<uintptr_t>(block);
  const size_t padding = (0 - address) % tensorAlignment;
  return {static_cast<std::byte *>(block) + padding,
          [block](const void *) { std::free(block); }};
}

/// \p value as an integer, clamped to the range; zero for NaN.
int64_t clampToInteger(double value) {
  constexpr double limit = 9223372036854775808.0;
  if (std::isnan(value))
    return 0;
  if (value >= limit)
    return std::numeric_limits<int64_t>::max();
  if (value < -limit)
    return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}

} // namespace

std::optional<int64_t> elementCount(std::span<const int64_t> shape) {
  bool isEmpty = false;
  for (int64_t dim : shape) {
    if (dim < 0)
      return std::nullopt;
    isEmpty |= dim == 0;
  }
  if (isEmpty)
    return 0;
  int64_t count = 1;
  for (int64_t dim : shape)
    if (__builtin_mul_overflow(count, dim, &count))
      return std::nullopt;
  return count;
}

std::optional<int64_t> byteCount(ElementType type,
                                 std::span<const int64_t> shape) {
  std::optional<int64_t> count = elementCount(shape);
  int64_t bytes;
  if (!count || __builtin_mul_overflow(
                    *count, static_cast<int64_t>(byteSize(type)), &bytes))
    return std::nullopt;
  return bytes;
}

std::string toString(ElementType type, std::span<const int64_t> shape) {
  std::string text;
  for (int64_t dim : shape)
    text += (dim < 0 ? std::string("?") : std::to_string(dim)) + "x";
  text += name(type);
  return text;
}

Tensor::Tensor(ElementType type, Shape shape)
    : elementType(type), dims(std::move(shape)) {
  std::optional<int64_t> bytes = byteCount(type, dims);
  if (!bytes)
    refuseMemory(std::nullopt);
  count = *elementCount(dims);
  storage = allocateBytes(static_cast<size_t>(*bytes));
}

Result<Tensor> Tensor::allocate(ElementType type, Shape shape) {
  // The message is built only if needed.
  const CatchesOutOfMemory catches;
  try {
    return Tensor(type, shape);
  } catch (const std::bad_alloc &refused) {
    return outOfMemoryError(refused, toString(type, shape));
  }
}

Tensor Tensor::share(ElementType type, Shape shape, const void *data,
                     std::shared_ptr<const void> owner) {
  Tensor tensor;
  tensor.elementType = type;
  tensor.count = elementCount(shape).value_or(0);
  tensor.dims = std::move(shape);
  tensor.storage = std::shared_ptr<const void>(std::move(owner), data);
  tensor.ownsBytes = false;
  return tensor;
}

Tensor Tensor::reshaped(Shape shape) const {
  Tensor tensor = *this;
  tensor.dims = std::move(shape);
  return tensor;
}

Tensor Tensor::owned() const {
  if (ownsBytes)
    return *this;
  Tensor copy(elementType, dims);
  if (count != 0)
    std::memcpy(copy.mutableBytes(), data(), bytes());
  return holdStrings(copy);
}

double Tensor::toDouble(int64_t index) const {
  return dispatch(elementType, [&](auto tag) -> double {
    using T = typename decltype(tag)::type;
    if constexpr (isStdComplex<T>)
      return at<T>(index).real();
    else
      return static_cast<double>(at<T>(index));
  });
}

int64_t Tensor::toInteger(int64_t index) const {
  return dispatch(elementType, [&](auto tag) -> int64_t {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T>)
      return static_cast<int64_t>(at<T>(index));
    else
      return clampToInteger(toDouble(index));
  });
}

} // namespace sinter
