//===- Strided.cpp - moving elements between arrays with strides ----------===//

#include "interpreter/Strided.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <numeric>

namespace sinter::interpreter {

std::vector<int64_t> rowMajorStrides(std::span<const int64_t> shape) {
  // In uint64_t, as an empty array may have sizes whose product overflows.
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = static_cast<int64_t>(static_cast<uint64_t>(strides[i]) *
                                          static_cast<uint64_t>(shape[i]));
  return strides;
}

Layout rowMajor(std::span<const int64_t> shape) {
  return {0, rowMajorStrides(shape)};
}

template <typename T>
static void copyRow(int64_t count, T *to, int64_t toStride, const T *from,
                    int64_t fromStride) {
  if (toStride == 1 && fromStride == 1) {
    std::copy_n(from, count, to);
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    to[i * toStride] = from[i * fromStride];
}

/// The axis along which elements are nearest to each other; the last one if
/// they are close enough along that.
static size_t nearestAxis(std::span<const int64_t> box, const Layout &layout) {
  const auto distance = [&](size_t axis) {
    return std::abs(layout.strides[axis]);
  };
  const size_t last = box.size() - 1;
  size_t nearest = last;
  if (distance(last) > 1)
    for (size_t axis = last; axis-- > 0;)
      if (box[axis] > 1 && distance(axis) < distance(nearest))
        nearest = axis;
  return nearest;
}

/// Copies all rows along the last axis that differ in their place along axis
/// \p across, in blocks whose lines stay in the cache on both sides.
template <typename T>
static void copyRows(std::span<const int64_t> box, size_t across, T *to,
                     const Layout &toLayout, const T *from,
                     const Layout &fromLayout) {
  constexpr int64_t block = 32;
  const size_t last = box.size() - 1;
  for (int64_t column = 0; column < box[last]; column += block)
    for (int64_t row = 0; row < box[across]; ++row)
      copyRow(std::min(block, box[last] - column),
              to + column * toLayout.strides[last] +
                  row * toLayout.strides[across],
              toLayout.strides[last],
              from + column * fromLayout.strides[last] +
                  row * fromLayout.strides[across],
              fromLayout.strides[last]);
}

template <typename T>
static void copyTyped(std::span<const int64_t> box, T *to,
                      const Layout &toLayout, const T *from,
                      const Layout &fromLayout) {
  to += toLayout.offset;
  from += fromLayout.offset;
  if (box.empty()) {
    *to = *from;
    return;
  }
  const size_t last = box.size() - 1, across = nearestAxis(box, fromLayout);
  std::vector<int64_t> index(last, 0);
  while (true) {
    if (across != last)
      copyRows(box, across, to, toLayout, from, fromLayout);
    else
      copyRow(box[last], to, toLayout.strides[last], from,
              fromLayout.strides[last]);
    size_t axis = last;
    while (axis-- > 0) {
      if (axis == across)
        continue;
      to += toLayout.strides[axis];
      from += fromLayout.strides[axis];
      if (++index[axis] < box[axis])
        break;
      to -= box[axis] * toLayout.strides[axis];
      from -= box[axis] * fromLayout.strides[axis];
      index[axis] = 0;
    }
    if (axis == size_t(-1))
      return;
  }
}

void copyBox(size_t elementBytes, std::span<const int64_t> box, std::byte *to,
             const Layout &toLayout, const std::byte *from,
             const Layout &fromLayout) {
  if (std::ranges::find(box, 0) != box.end())
    return;
  auto copy = [&]<typename T>(T) {
    copyTyped(box, reinterpret_cast<T *>(to), toLayout,
              reinterpret_cast<const T *>(from), fromLayout);
  };
  // Weights may be unaligned in a model's file: elements are copied as bytes.
  switch (elementBytes) {
  case 1:
    return copy(std::array<std::byte, 1>());
  case 2:
    return copy(std::array<std::byte, 2>());
  case 4:
    return copy(std::array<std::byte, 4>());
  case 8:
    return copy(std::array<std::byte, 8>());
  default:
    return copy(std::array<std::byte, 16>());
  }
}

Tensor transposed(const Tensor &tensor, std::span<const int64_t> permutation) {
  const std::vector<int64_t> strides = rowMajorStrides(tensor.shape());
  Shape shape;
  Layout from;
  for (int64_t dimension : permutation) {
    shape.push_back(tensor.dim(dimension));
    from.strides.push_back(strides[dimension]);
  }
  if (std::ranges::is_sorted(permutation))
    return tensor;
  Tensor result(tensor.type(), shape);
  copyBox(byteSize(tensor.type()), shape, result.mutableBytes(),
          rowMajor(shape), tensor.data(), from);
  return result;
}

Tensor reversed(const Tensor &tensor, std::span<const int64_t> axes) {
  Tensor result(tensor.type(), tensor.shape());
  Layout from = rowMajor(tensor.shape());
  for (int64_t axis : axes) {
    from.offset += (tensor.shape()[axis] - 1) * from.strides[axis];
    from.strides[axis] *= -1;
  }
  copyBox(byteSize(tensor.type()), tensor.shape(), result.mutableBytes(),
          rowMajor(tensor.shape()), tensor.data(), from);
  return result;
}

Tensor scalarAt(const Tensor &tensor, int64_t index) {
  Tensor scalar(tensor.type(), {});
  const size_t size = byteSize(tensor.type());
  std::memcpy(scalar.mutableBytes(), tensor.data() + index * size, size);
  return scalar;
}

Tensor splat(const Tensor &value, Shape shape) {
  Tensor result(value.type(), std::move(shape));
  const int64_t box[] = {result.size()};
  copyBox(byteSize(value.type()), box, result.mutableBytes(), {0, {1}},
          value.data(), {0, {0}});
  return result;
}

Tensor broadcastTo(const Tensor &tensor, const Shape &shape) {
  const std::vector<int64_t> strides = rowMajorStrides(tensor.shape());
  Layout from{0, std::vector<int64_t>(shape.size(), 0)};
  const size_t missing = shape.size() - tensor.shape().size();
  for (size_t i = 0; i < strides.size(); ++i)
    if (tensor.dim(i) != 1)
      from.strides[missing + i] = strides[i];
  Tensor result(tensor.type(), shape);
  copyBox(byteSize(tensor.type()), shape, result.mutableBytes(),
          rowMajor(shape), tensor.data(), from);
  return result;
}

AxisView::AxisView(std::span<const int64_t> shape, int64_t axis) {
  for (int64_t i = 0; i < static_cast<int64_t>(shape.size()); ++i)
    (i < axis ? outer : i == axis ? size : inner) *= shape[i];
}

} // namespace sinter::interpreter
