//===- Random.h - reproducible random tensors -----------------------------===//
//
// Element i is a function of the seed and of i alone (SplitMix64: Steele, Lea
// and Flood, "Fast splittable pseudorandom number generators", 2014), so a
// tensor is the same on every machine and with any number of threads.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_RANDOM_H
#define SINTER_RUNTIME_RANDOM_H

#include "runtime/Tensor.h"

namespace sinter {

/// The \p index-th 64-bit output of SplitMix64 seeded with \p seed.
inline uint64_t splitMix(uint64_t seed, uint64_t index) {
  uint64_t z = seed + (index + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

struct RandomOptions {
  /// Floating-point and complex elements are uniform in [low, high).
  double low = -1;
  double high = 1;
  /// Integers are uniform in [0, integerLimit), or less for narrower types.
  uint64_t integerLimit = 16;
};

/// Overwrites \p tensor, which owns its bytes. i1 is 0 or 1 with equal
/// probability.
void fillRandom(Tensor &tensor, uint64_t seed,
                const RandomOptions &options = {});

} // namespace sinter

#endif // SINTER_RUNTIME_RANDOM_H
