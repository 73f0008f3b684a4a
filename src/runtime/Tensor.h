//===- Tensor.h - a dense array with a type and a shape -------------------===//
//
// Row-major and contiguous. A tensor either owns its bytes or shares bytes
// that something else keeps alive (a mapped model file, a caller's array);
// copies of a Tensor share the same bytes.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_TENSOR_H
#define SINTER_RUNTIME_TENSOR_H

#include "runtime/ElementType.h"
#include "runtime/Result.h"

#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sinter {

using Shape = std::vector<int64_t>;

/// The number of elements, or nothing if a dimension is negative or the product
/// does not fit into int64_t. Zero if any dimension is zero.
std::optional<int64_t> elementCount(std::span<const int64_t> shape);
/// Bytes of a tensor, or nothing if elementCount returns nothing or the size
/// does not fit into int64_t.
std::optional<int64_t> byteCount(ElementType type,
                                 std::span<const int64_t> shape);
/// "2x3x4xf32", as inside MLIR's tensor<...>.
std::string toString(ElementType type, std::span<const int64_t> shape);

class Tensor {
public:
  /// An empty f32 tensor of shape [0].
  Tensor() = default;

  /// A new tensor, 64-byte aligned and zeroed. If there is no memory, or the
  /// shape has no byteCount, calls refuseMemory() (OutOfMemory.h).
  Tensor(ElementType type, Shape shape);

  /// The same; the System error has the bytes wanted.
  static Result<Tensor> allocate(ElementType type, Shape shape);

  /// A tensor over \p data, which \p owner keeps alive and which has
  /// byteCount(type, shape) bytes. \p data may be unaligned.
  static Tensor share(ElementType type, Shape shape, const void *data,
                      std::shared_ptr<const void> owner);

  template <typename T>
  static Tensor of(ElementType type, Shape shape, std::span<const T> values) {
    Tensor tensor(type, std::move(shape));
    // An empty span may have a null pointer, which memcpy does not allow.
    if (!values.empty())
      std::memcpy(tensor.mutableBytes(), values.data(), values.size_bytes());
    return tensor;
  }

  ElementType type() const { return elementType; }
  const Shape &shape() const { return dims; }
  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
  int64_t dim(size_t axis) const { return dims[axis]; }
  int64_t size() const { return count; }
  size_t bytes() const { return count * byteSize(elementType); }

  const std::byte *data() const {
    return static_cast<const std::byte *>(storage.get());
  }
  /// The mutable bytes of a tensor that owns them, for its creator.
  std::byte *mutableBytes() {
    return static_cast<std::byte *>(const_cast<void *>(storage.get()));
  }

  /// Element \p index in row-major order, whatever the alignment. sizeof(T) is
  /// byteSize(type()).
  template <typename T> T at(int64_t index) const {
    T value;
    std::memcpy(&value, data() + index * sizeof(T), sizeof(T));
    return value;
  }
  template <typename T> void set(int64_t index, T value) {
    std::memcpy(mutableBytes() + index * sizeof(T), &value, sizeof(T));
  }
  /// The elements as an array. Only for aligned data of a matching type: own
  /// bytes are, those of share() may not be (see isAligned).
  template <typename T> std::span<const T> values() const {
    return {reinterpret_cast<const T *>(data()), static_cast<size_t>(count)};
  }
  template <typename T> std::span<T> mutableValues() {
    return {reinterpret_cast<T *>(mutableBytes()), static_cast<size_t>(count)};
  }
  bool isAligned(size_t alignment = 64) const {
    return reinterpret_cast<uintptr_t>(data()) % alignment == 0;
  }

  /// The same elements in another shape of the same size.
  Tensor reshaped(Shape shape) const;
  /// A tensor that owns its (aligned) bytes; this one if it does. One of
  /// strings holds them.
  Tensor owned() const;

  /// Whether the bytes are this tensor's own and no copy of it exists.
  bool isUnique() const { return ownsBytes && storage.use_count() == 1; }

  /// The element as a double or an integer, whatever its type (the real part of
  /// a complex number, a string's handle). For printing, comparing and tests,
  /// not for computing.
  double toDouble(int64_t index) const;
  int64_t toInteger(int64_t index) const;

private:
  ElementType elementType = ElementType::F32;
  Shape dims = {0};
  int64_t count = 0;
  std::shared_ptr<const void> storage;
  bool ownsBytes = true;
};

} // namespace sinter

#endif // SINTER_RUNTIME_TENSOR_H
