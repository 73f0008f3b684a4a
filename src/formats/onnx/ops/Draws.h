//===- Draws.h - the random numbers of a node -----------------------------===//
//
// ONNX leaves open which numbers its random operators draw. Here a model is a
// function of its inputs: what a node draws follows from its `seed` or, where
// that is missing, from its name, and every run draws the same. The generator
// is the one that ONNX's reference implementation takes from NumPy: the
// Mersenne Twister MT19937 (Matsumoto and Nishimura, 1998) with two draws for
// a 53-bit fraction, normal numbers by Marsaglia's polar method (1964). So with
// a seed the reference gives the same numbers.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_OPS_DRAWS_H
#define SINTER_FORMATS_ONNX_OPS_DRAWS_H

#include "formats/onnx/NodeContext.h"
#include <random>

namespace sinter::onnx {

class Draws {
public:
  explicit Draws(uint32_t seed) : generator(seed) {}

  /// Uniform in [0, 1).
  double uniform();
  /// Of mean 0 and variance 1.
  double normal();

private:
  std::mt19937 generator;
  /// The polar method makes two numbers at a time.
  std::optional<double> spare;
};

/// The draws of \p node.
Draws drawsOf(NodeContext &node);

/// A constant f64 tensor of \p shape, drawn uniformly from [0, 1). Fails where
/// a size is unknown or the tensor is too large to be kept.
std::optional<Tensor> uniformDraws(NodeContext &node,
                                   llvm::ArrayRef<int64_t> shape);
std::optional<Tensor> normalDraws(NodeContext &node,
                                  llvm::ArrayRef<int64_t> shape);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_OPS_DRAWS_H
