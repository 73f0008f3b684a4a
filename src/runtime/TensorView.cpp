//===- TensorView.cpp - memory of a caller as a tensor --------------------===//

#include "runtime/TensorView.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace sinter {

namespace {

/// More than any address space; keeps sums of strides far from overflow.
constexpr int64_t mostReach = int64_t(1) << 56;

/// A dimension of more than one element.
struct Walk {
  int64_t size = 1, from = 0, to = 0;
};

/// The stride in bytes of dimension \p dim; \p dense is the one of a dense
/// array.
int64_t strideOf(std::span<const int64_t> strides, size_t dim, int64_t dense) {
  return strides.empty() ? dense : strides[dim];
}

/// The dimensions with more than one element, the outermost first; those that
/// are contiguous in both views are merged.
std::vector<Walk> walksOf(const TensorView &from, const TensorView &to) {
  std::vector<Walk> walks;
  int64_t dense = static_cast<int64_t>(byteSize(from.type));
  for (size_t dim = from.shape.size(); dim-- > 0;) {
    const int64_t size = from.shape[dim];
    const Walk next = {size, strideOf(from.strides, dim, dense),
                       strideOf(to.strides, dim, dense)};
    dense *= size;
    if (size == 1)
      continue;
    if (!walks.empty() && next.from == walks.back().from * walks.back().size &&
        next.to == walks.back().to * walks.back().size)
      walks.back().size *= size;
    else
      walks.push_back(next);
  }
  std::ranges::reverse(walks);
  return walks;
}

template <size_t Bytes>
void copyRow(const std::byte *from, std::byte *to, const Walk &walk) {
  for (int64_t i = 0; i < walk.size; ++i)
    std::memcpy(to + i * walk.to, from + i * walk.from, Bytes);
}

void copyRow(const std::byte *from, std::byte *to, const Walk &walk,
             size_t bytes) {
  const auto each = static_cast<int64_t>(bytes);
  if (walk.from == each && walk.to == each) {
    std::memcpy(to, from, bytes * static_cast<size_t>(walk.size));
    return;
  }
  switch (bytes) {
  case 1:
    return copyRow<1>(from, to, walk);
  case 2:
    return copyRow<2>(from, to, walk);
  case 4:
    return copyRow<4>(from, to, walk);
  case 8:
    return copyRow<8>(from, to, walk);
  default:
    return copyRow<16>(from, to, walk);
  }
}

bool isEmpty(const TensorView &view) {
  return std::ranges::find(view.shape, 0) != view.shape.end();
}

/// The addresses of all elements, in order.
std::vector<uintptr_t> elementsOf(const TensorView &view) {
  std::vector<uintptr_t> all;
  if (isEmpty(view))
    return all;
  all.push_back(reinterpret_cast<uintptr_t>(view.data));
  for (const Walk &walk : walksOf(view, view)) {
    const size_t count = all.size();
    for (int64_t i = 1; i < walk.size; ++i)
      for (size_t each = 0; each < count; ++each)
        all.push_back(all[each] + static_cast<uintptr_t>(i * walk.from));
  }
  std::ranges::sort(all);
  return all;
}

} // namespace

TensorView viewOf(const Tensor &tensor) {
  return {tensor.type(), tensor.shape(), tensor.data(), {}};
}

std::optional<std::vector<int64_t>>
stridesInBytes(ElementType type, std::span<const int64_t> inElements) {
  std::vector<int64_t> strides(inElements.begin(), inElements.end());
  for (int64_t &stride : strides)
    if (__builtin_mul_overflow(stride, static_cast<int64_t>(byteSize(type)),
                               &stride))
      return std::nullopt;
  return strides;
}

Result<AddressRange> addressesOf(const TensorView &view) {
  const auto wrong = [&](const std::string &what) {
    return usageError(toString(view.type, view.shape) + " " + what);
  };
  if (std::ranges::any_of(view.shape, [](int64_t size) { return size < 0; }))
    return wrong("has a negative size");
  if (!byteCount(view.type, view.shape))
    return wrong("has more bytes than can be counted");
  if (!view.strides.empty() && view.strides.size() != view.shape.size())
    return wrong("has " + std::to_string(view.strides.size()) + " strides");
  const auto start = reinterpret_cast<uintptr_t>(view.data);
  if (isEmpty(view))
    return AddressRange{start, start};
  if (!view.data)
    return wrong("is at a null pointer");
  // The first address, and the end.
  int64_t low = 0, high = static_cast<int64_t>(byteSize(view.type));
  int64_t dense = high;
  for (size_t dim = view.shape.size(); dim-- > 0;) {
    const int64_t stride = strideOf(view.strides, dim, dense);
    dense *= view.shape[dim];
    int64_t reach;
    int64_t &bound = stride < 0 ? low : high;
    if (__builtin_mul_overflow(view.shape[dim] - 1, stride, &reach) ||
        __builtin_add_overflow(bound, reach, &bound))
      return wrong("has strides that overflow");
  }
  AddressRange range;
  if (low < -mostReach || high > mostReach ||
      __builtin_add_overflow(start, low, &range.begin) ||
      __builtin_add_overflow(start, high, &range.end))
    return wrong("has strides that lead out of the address space");
  return range;
}

bool isDense(const TensorView &view) {
  if (view.strides.empty() || isEmpty(view))
    return true;
  auto dense = static_cast<int64_t>(byteSize(view.type));
  for (size_t dim = view.shape.size(); dim-- > 0;) {
    if (view.shape[dim] != 1 && view.strides[dim] != dense)
      return false;
    dense *= view.shape[dim];
  }
  return true;
}

bool overlapsItself(const TensorView &view) {
  if (isDense(view))
    return false;
  std::vector<Walk> walks = walksOf(view, view);
  std::ranges::sort(walks, {},
                    [](const Walk &walk) { return std::abs(walk.from); });
  // Each stride exceeds the extent of all smaller ones.
  auto reach = static_cast<int64_t>(byteSize(view.type));
  bool isNested = true;
  for (const Walk &walk : walks) {
    isNested &= std::abs(walk.from) >= reach;
    reach += std::abs(walk.from) * (walk.size - 1);
  }
  if (isNested)
    return false;
  const std::vector<uintptr_t> all = elementsOf(view);
  return std::ranges::adjacent_find(all, [&](uintptr_t one, uintptr_t next) {
           return next - one < byteSize(view.type);
         }) != all.end();
}

bool overlap(const TensorView &one, const TensorView &other) {
  const Result<AddressRange> here = addressesOf(one),
                             there = addressesOf(other);
  if (!here || !there || !here->meets(*there))
    return false;
  if (isDense(one) && isDense(other))
    return true;
  // Slices of one array may interleave.
  const std::vector<uintptr_t> first = elementsOf(one),
                               second = elementsOf(other);
  auto next = second.begin();
  for (const uintptr_t element : first) {
    while (next != second.end() && *next + byteSize(other.type) <= element)
      ++next;
    if (next == second.end())
      return false;
    if (*next < element + byteSize(one.type))
      return true;
  }
  return false;
}

void copyElements(const TensorView &from, const MutableTensorView &to) {
  if (isEmpty(from))
    return;
  std::vector<Walk> outer = walksOf(from, to);
  const size_t bytes = byteSize(from.type);
  Walk inner = {1, static_cast<int64_t>(bytes), static_cast<int64_t>(bytes)};
  if (!outer.empty()) {
    inner = outer.back();
    outer.pop_back();
  }
  const auto *source = static_cast<const std::byte *>(from.data);
  auto *target = static_cast<std::byte *>(to.data);
  std::vector<int64_t> index(outer.size());
  while (true) {
    copyRow(source, target, inner, bytes);
    size_t dim = outer.size();
    while (dim-- > 0) {
      source += outer[dim].from;
      target += outer[dim].to;
      if (++index[dim] < outer[dim].size)
        break;
      source -= outer[dim].from * outer[dim].size;
      target -= outer[dim].to * outer[dim].size;
      index[dim] = 0;
    }
    if (dim == SIZE_MAX)
      return;
  }
}

} // namespace sinter
