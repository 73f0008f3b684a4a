//===- Strided.h - moving elements between arrays with strides ------------===//
//
// Transpose, slice, reverse, pad, broadcast and concatenate are all one loop:
// over a box of indices, from one address that is linear in the index to
// another.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_INTERPRETER_STRIDED_H
#define SINTER_INTERPRETER_STRIDED_H

#include "runtime/Tensor.h"

#include <span>
#include <vector>

namespace sinter::interpreter {

/// The position of the element of an index: `offset` plus the index times the
/// strides, in elements.
struct Layout {
  int64_t offset = 0;
  std::vector<int64_t> strides;
};

/// The strides, in elements, of a dense row-major array.
std::vector<int64_t> rowMajorStrides(std::span<const int64_t> shape);
Layout rowMajor(std::span<const int64_t> shape);

/// For every index in \p box: to[toLayout(index)] = from[fromLayout(index)], of
/// elements of \p elementBytes bytes (1, 2, 4, 8 or 16).
void copyBox(size_t elementBytes, std::span<const int64_t> box, std::byte *to,
             const Layout &toLayout, const std::byte *from,
             const Layout &fromLayout);

/// The tensor's elements with dimension i being the old permutation[i].
Tensor transposed(const Tensor &tensor, std::span<const int64_t> permutation);

/// The tensor, which is not empty, reversed along \p axes.
Tensor reversed(const Tensor &tensor, std::span<const int64_t> axes);

/// Element \p index of the tensor, in row-major order.
Tensor scalarAt(const Tensor &tensor, int64_t index);

/// A tensor with every element equal to the scalar (or one-element) \p value.
Tensor splat(const Tensor &value, Shape shape);

/// The tensor broadcast to \p shape by NumPy's rule.
Tensor broadcastTo(const Tensor &tensor, const Shape &shape);

/// Counts through all indices of a shape in row-major order.
class IndexCounter {
public:
  explicit IndexCounter(std::span<const int64_t> shape)
      : shape(shape.begin(), shape.end()), index(shape.size(), 0) {}
  /// Counts from \p first on.
  IndexCounter(std::span<const int64_t> shape, std::vector<int64_t> first)
      : shape(shape.begin(), shape.end()), index(std::move(first)) {}
  const std::vector<int64_t> &operator*() const { return index; }
  int64_t operator[](size_t axis) const { return index[axis]; }
  /// Goes to the next index; after the last, back to the first.
  void next() {
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis])
        return;
      index[axis] = 0;
    }
  }

private:
  std::vector<int64_t> shape;
  std::vector<int64_t> index;
};

/// An array seen as [outer, size, inner] around one axis.
struct AxisView {
  int64_t outer = 1, size = 1, inner = 1;
  AxisView(std::span<const int64_t> shape, int64_t axis);
};

} // namespace sinter::interpreter

#endif // SINTER_INTERPRETER_STRIDED_H
