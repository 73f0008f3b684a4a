//===- RandomNetwork.h - layers over dynamic dimensions from a seed -------===//
//
//   main(x : ?x5x?x?, y : ?x5x?x?)
//     a = convolution(quantize(x), weights), padded by 1 and 2 : ?x8x?x?
//     b = max pool(dequantize(a)) : ?x8x?x?
//     c = y + b ...
//
// Convolutions, pools, products, paddings and what joins two feature maps, in
// f32 and in 8 bits, with the batch and the innermost dimensions dynamic:
// random programs (RandomProgram.h) have static ones but for a few at the
// front. The same network is for several sizes; some of these do not fit it.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RANDOM_RANDOMNETWORK_H
#define SINTER_RANDOM_RANDOMNETWORK_H

#include "graph/Model.h"
#include "runtime/Tensor.h"

#include <cstdint>
#include <vector>

namespace sinter {

struct RandomNetworkOptions {
  /// Layers, those that quantise and dequantise not counted.
  int layers = 4;
  /// How many choices of sizes there are.
  int sizes = 5;
};

struct RandomNetwork {
  Model model;
  /// Shapes of the arguments. The first choice fits; of the others a tenth may
  /// not, dimensions of 0 and 1 are among them.
  std::vector<std::vector<Shape>> sizes;
};

/// A verified network. The same seed and options give the same one.
RandomNetwork randomNetwork(uint64_t seed,
                            const RandomNetworkOptions &options = {});

} // namespace sinter

#endif // SINTER_RANDOM_RANDOMNETWORK_H
