//===- Dice.h - random choices that a seed repeats ------------------------===//

#ifndef SINTER_RANDOM_DICE_H
#define SINTER_RANDOM_DICE_H

#include "runtime/Random.h"
#include "llvm/ADT/ArrayRef.h"

#include <iterator>

namespace sinter {

/// The same choices for the same seed, on every machine.
class Dice {
public:
  explicit Dice(uint64_t seed) : seed(seed) {}

  uint64_t bits() { return splitMix(seed, drawn++); }
  /// Uniform in [low, high].
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(bits() % (high - low + 1));
  }
  /// True once in \p n times.
  bool oneIn(int64_t n) { return between(1, n) == 1; }
  template <typename Range> auto &&among(Range &&range) {
    return range[bits() % std::size(range)];
  }

private:
  uint64_t seed;
  uint64_t drawn = 0;
};

} // namespace sinter

#endif // SINTER_RANDOM_DICE_H
