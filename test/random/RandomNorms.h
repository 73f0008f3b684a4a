//===- RandomNorms.h - batch norms in odd places, from a seed -------------===//
//
//   x -> convolution -> relu -> batch norm -> { convolution, concatenate ... }
//
// Small networks of images in which batch norms stand anywhere: behind
// rectifiers, pools, concatenations, sums, slices, shuffled or resized
// channels, and in front of several products.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RANDOM_RANDOMNORMS_H
#define SINTER_RANDOM_RANDOMNORMS_H

#include "random/RandomFolding.h"

namespace sinter {

struct RandomNormsOptions {
  /// Numbers are small multiples of powers of two, of f64: nothing is rounded.
  bool isExact = false;
  int layers = 8;
};

/// The same seed and options give the same network.
RandomFolding randomNorms(uint64_t seed,
                          const RandomNormsOptions &options = {});

} // namespace sinter

#endif // SINTER_RANDOM_RANDOMNORMS_H
