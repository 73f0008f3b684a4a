//===- ArenaPlan.h - places tensors in one piece of memory ----------------===//
//
// Tensors that are alive at the same time get memory of their own; others share
// it.
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
  /// One more tensor, which is alive from time \p begin to time \p end, both
  /// included; never if \p begin is negative.
  void add(uint64_t bytes, int64_t begin, int64_t end) {
    tensors.push_back({bytes, begin, end, 0, false});
  }
  /// One that has its place already.
  void addPlaced(uint64_t bytes, int64_t begin, int64_t end, uint64_t offset) {
    tensors.push_back({bytes, begin, end, offset, true});
  }

  /// Gives each its place and returns how much memory that takes, in a time
  /// that is about linear in the number of tensors. Where few are alive
  /// together, the largest are placed first, which takes less memory than
  /// placing them as they come into being.
  uint64_t place();
  /// Of tensor \p number, in the order in which they were added.
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
  /// Those that are alive at some time of each one's life.
  std::vector<std::vector<uint32_t>> neighbours;
};

} // namespace sinter

#endif // SINTER_RUNTIME_ARENAPLAN_H
