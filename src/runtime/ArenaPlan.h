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

  /// Gives each its place and returns how much memory that takes.
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
  std::vector<Placed> tensors;
};

} // namespace sinter

#endif // SINTER_RUNTIME_ARENAPLAN_H
