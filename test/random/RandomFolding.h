//===- RandomFolding.h - a product between random chains, from a seed -----===//
//
//   x -> chain -> product with constant weights -> chain -> results
//
// A chain is of arithmetic with constants along the channels, of what moves
// elements, of conversions, and of some operations that nothing folds across.
// Each size of x but that of its channels may be unknown; then what is repeated
// finds its shape beside another tensor or by computed sizes.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RANDOM_RANDOMFOLDING_H
#define SINTER_RANDOM_RANDOMFOLDING_H

#include "runtime/Tensor.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sinter {

struct RandomFolding {
  std::string text;
  /// The least precise element type in it.
  std::string element;
  /// Two shapes of x that fit.
  std::vector<Shape> shapes;
};

/// The same seed gives the same program.
RandomFolding randomFolding(uint64_t seed);

} // namespace sinter

#endif // SINTER_RANDOM_RANDOMFOLDING_H
