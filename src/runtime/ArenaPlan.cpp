//===- ArenaPlan.cpp - assigns tensors offsets in one block of memory -----===//

#include "runtime/ArenaPlan.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace sinter {

static constexpr uint64_t alignment = 64;

static uint64_t aligned(uint64_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

uint64_t ArenaPlan::place() {
  // By the beginning of their lifetimes; of equal ones the larger first.
  std::vector<uint32_t> order;
  for (size_t i = 0; i < tensors.size(); ++i)
    if (tensors[i].begin >= 0 && tensors[i].bytes > 0)
      order.push_back(static_cast<uint32_t>(i));
  std::ranges::sort(order, [&](uint32_t a, uint32_t b) {
    const Placed &one = tensors[a], &other = tensors[b];
    return std::tuple(one.begin, other.bytes, a) <
           std::tuple(other.begin, one.bytes, b);
  });
  const uint64_t bytes =
      findNeighbours(order) ? placeLargestFirst(order) : placeInTime(order);
  neighbours.clear();
  return aligned(bytes);
}

/// Finds overlapping lifetimes; gives up if there are more than can be found in
/// time linear in the number of tensors.
bool ArenaPlan::findNeighbours(const std::vector<uint32_t> &order) {
  const size_t most = 64 * order.size() + (size_t(1) << 17);
  size_t pairs = 0;
  neighbours.assign(tensors.size(), {});
  std::multimap<int64_t, uint32_t> alive;
  for (uint32_t number : order) {
    const Placed &tensor = tensors[number];
    alive.erase(alive.begin(), alive.lower_bound(tensor.begin));
    if ((pairs += alive.size()) > most)
      return false;
    for (const auto &[end, other] : alive) {
      neighbours[number].push_back(other);
      neighbours[other].push_back(number);
    }
    if (tensor.end >= tensor.begin)
      alive.emplace(tensor.end, number);
  }
  return true;
}

/// The largest first, each at the lowest offset that is free for its lifetime.
uint64_t ArenaPlan::placeLargestFirst(std::vector<uint32_t> order) {
  // Of equal sizes the first.
  std::ranges::sort(order, [&](uint32_t a, uint32_t b) {
    return tensors[a].bytes != tensors[b].bytes
               ? tensors[a].bytes > tensors[b].bytes
               : a < b;
  });
  std::vector<bool> isPlaced(tensors.size());
  uint64_t arenaBytes = 0;
  for (size_t i = 0; i < tensors.size(); ++i)
    if (tensors[i].hasPlace) {
      isPlaced[i] = true;
      arenaBytes = std::max(arenaBytes, tensors[i].offset + tensors[i].bytes);
    }
  for (uint32_t number : order) {
    if (tensors[number].hasPlace)
      continue;
    std::vector<const Placed *> placed;
    for (uint32_t other : neighbours[number])
      if (isPlaced[other])
        placed.push_back(&tensors[other]);
    std::ranges::sort(placed, {}, &Placed::offset);
    Placed &tensor = tensors[number];
    uint64_t offset = 0;
    for (const Placed *other : placed) {
      if (other->offset >= offset + tensor.bytes)
        break;
      offset = std::max(offset, aligned(other->offset + other->bytes));
    }
    tensor.offset = offset;
    isPlaced[number] = true;
    arenaBytes = std::max(arenaBytes, offset + tensor.bytes);
  }
  return arenaBytes;
}

namespace {

/// The free blocks of a growing memory.
class FreeParts {
public:
  explicit FreeParts(uint64_t begin) : end(begin) {}

  /// The smallest block of at least \p bytes, else new memory at the end.
  uint64_t take(uint64_t bytes) {
    const auto part = bySize.lower_bound({bytes, 0});
    if (part != bySize.end()) {
      const auto [size, offset] = *part;
      remove(offset, size);
      if (size > bytes)
        add(offset + bytes, size - bytes);
      return offset;
    }
    // A free block at the end grows.
    uint64_t offset = end;
    if (!byOffset.empty()) {
      const auto [last, size] = *byOffset.rbegin();
      if (last + size == end) {
        offset = last;
        remove(last, size);
      }
    }
    end = offset + bytes;
    return offset;
  }

  void giveBack(uint64_t offset, uint64_t bytes) {
    auto after = byOffset.lower_bound(offset);
    if (after != byOffset.end() && after->first == offset + bytes) {
      bytes += after->second;
      remove(after->first, after->second);
    }
    auto before = byOffset.lower_bound(offset);
    if (before != byOffset.begin()) {
      --before;
      if (before->first + before->second == offset) {
        offset = before->first;
        bytes += before->second;
        remove(before->first, before->second);
      }
    }
    add(offset, bytes);
  }

  uint64_t bytes() const { return end; }

private:
  void add(uint64_t offset, uint64_t bytes) {
    byOffset.emplace(offset, bytes);
    bySize.emplace(bytes, offset);
  }
  void remove(uint64_t offset, uint64_t bytes) {
    byOffset.erase(offset);
    bySize.erase({bytes, offset});
  }

  std::map<uint64_t, uint64_t> byOffset;
  std::set<std::pair<uint64_t, uint64_t>> bySize;
  uint64_t end;
};

} // namespace

/// In order of definition, each in the smallest block that is free then, behind
/// those with fixed offsets.
uint64_t ArenaPlan::placeInTime(const std::vector<uint32_t> &order) {
  uint64_t begin = 0;
  for (const Placed &tensor : tensors)
    if (tensor.hasPlace)
      begin = std::max(begin, aligned(tensor.offset + tensor.bytes));
  FreeParts parts(begin);
  std::multimap<int64_t, uint32_t> alive;
  for (uint32_t number : order) {
    Placed &tensor = tensors[number];
    if (tensor.hasPlace)
      continue;
    const auto past = alive.lower_bound(tensor.begin);
    for (auto each = alive.begin(); each != past; ++each) {
      const Placed &other = tensors[each->second];
      parts.giveBack(other.offset, aligned(other.bytes));
    }
    alive.erase(alive.begin(), past);
    tensor.offset = parts.take(aligned(tensor.bytes));
    alive.emplace(tensor.end, number);
  }
  return parts.bytes();
}

} // namespace sinter
