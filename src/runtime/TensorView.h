//===- TensorView.h - memory of a caller as a tensor ----------------------===//
//
// As in numpy's array interface and DLPack: an element type, sizes, and
// strides. Views own nothing: the caller keeps sizes, strides and memory alive.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_TENSORVIEW_H
#define SINTER_RUNTIME_TENSORVIEW_H

#include "runtime/Tensor.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sinter {

/// Read-only elements.
struct TensorView {
  ElementType type = ElementType::F32;
  std::span<const int64_t> shape;
  /// The address of the element whose indices are all 0.
  const void *data = nullptr;
  /// Strides in bytes, which may be zero or negative. Empty: dense, row-major.
  std::span<const int64_t> strides = {};
};

/// Writable elements. No two may share a byte.
struct MutableTensorView {
  ElementType type = ElementType::F32;
  std::span<const int64_t> shape;
  void *data = nullptr;
  std::span<const int64_t> strides = {};

  operator TensorView() const { return {type, shape, data, strides}; }
};

/// A view of all of \p tensor.
TensorView viewOf(const Tensor &tensor);

/// Strides in bytes from strides in elements, as in DLPack; nothing if one
/// overflows.
std::optional<std::vector<int64_t>>
stridesInBytes(ElementType type, std::span<const int64_t> inElements);

/// A range of addresses, its end excluded.
struct AddressRange {
  uintptr_t begin = 0, end = 0;

  /// Whether both contain a common address.
  bool meets(const AddressRange &other) const {
    return std::max(begin, other.begin) < std::min(end, other.end);
  }
};

/// The range of addresses of \p view. Usage errors: a negative size, sizes and
/// strides that overflow or leave the address space, another number of strides
/// than of dimensions, or a null pointer to elements.
Result<AddressRange> addressesOf(const TensorView &view);

/// Whether elements are dense in row-major order. For views that addressesOf()
/// accepts, as the functions below.
bool isDense(const TensorView &view);

/// Whether two elements of \p view share a byte.
bool overlapsItself(const TensorView &view);
/// Whether an element of \p one shares a byte with an element of \p other.
bool overlap(const TensorView &one, const TensorView &other);

/// Copies elements. Both have the same type and shape, and share no memory.
void copyElements(const TensorView &from, const MutableTensorView &to);

} // namespace sinter

#endif // SINTER_RUNTIME_TENSORVIEW_H
