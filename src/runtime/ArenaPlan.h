//===- ArenaPlan.h - assigns tensors offsets in one block of memory -------===//
//
// Tensors with overlapping lifetimes get separate memory; others share it.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_ARENAPLAN_H
#define SINTER_RUNTIME_ARENAPLAN_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sinter {

class ArenaPlan {
public:
  /// Adds a tensor that is live from time \p begin to time \p end, both
  /// included; never if \p begin is negative.
  void add(uint64_t bytes, int64_t begin, int64_t end) {
    tensors.push_back({bytes, begin, end, 0, false});
  }
  /// Adds a tensor with a fixed offset.
  void addPlaced(uint64_t bytes, int64_t begin, int64_t end, uint64_t offset) {
    tensors.push_back({bytes, begin, end, offset, true});
  }

  /// Assigns offsets and returns the bytes needed, in about linear time. If few
  /// tensors are live at once, the largest get offsets first, which takes less
  /// memory than the order of their definitions.
  uint64_t place();
  /// The offset of tensor \p number, in the order in which they were added.
  uint64_t offsetOf(size_t number) const { return tensors[number].offset; }

private:
  struct Placed {
    uint64_t bytes;
    int64_t begin, end;
    uint64_t offset;
    bool hasPlace;
  };

  bool findNeighbours(const std::vector<uint32_t> &order);
  uint64_t placeLargestFirst(std::vector<uint32_t> order);
  uint64_t placeInTime(const std::vector<uint32_t> &order);

  std::vector<Placed> tensors;
  /// For each tensor, those whose lifetimes overlap with its own.
  std::vector<std::vector<uint32_t>> neighbours;
};

} // namespace sinter

#endif // SINTER_RUNTIME_ARENAPLAN_H
