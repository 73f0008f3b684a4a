//===- Draws.h - the random numbers of an operator ------------------------===//
//
// File formats do not specify which values random operators draw. Here a model
// is a function of its inputs: an operator's values follow from its seed or,
// without one, from its name, and every run draws the same. The generator is
// the one that ONNX's reference implementation takes from NumPy: the Mersenne
// Twister MT19937 (Matsumoto and Nishimura, 1998) with two draws for a 53-bit
// fraction, normal values by Marsaglia's polar method (1964). So with a seed
// the reference draws the same values.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_IMPORT_DRAWS_H
#define SINTER_FORMATS_IMPORT_DRAWS_H

#include "formats/import/GraphBuilder.h"
#include <random>

namespace sinter::formats {

class Draws {
public:
  explicit Draws(uint32_t seed) : generator(seed) {}
  /// Seeded with \p seed or, without one, with the name of the operator that
  /// \p builder translates.
  Draws(GraphBuilder &builder, std::optional<int64_t> seed);

  /// Uniform in [0, 1).
  double uniform();
  /// Normal with mean 0 and variance 1.
  double normal();

  /// A constant f64 tensor of \p shape, drawn uniformly from [0, 1). Fails for
  /// a dynamic dimension and for a tensor that is too large for a constant.
  std::optional<Tensor> uniformTensor(GraphBuilder &builder,
                                      llvm::ArrayRef<int64_t> shape);
  std::optional<Tensor> normalTensor(GraphBuilder &builder,
                                     llvm::ArrayRef<int64_t> shape);

private:
  std::mt19937 generator;
  /// The polar method draws two values at a time.
  std::optional<double> spare;
};

/// \p shift + \p scale * \p draws, rounded to \p element, which must be a
/// floating-point type; null if there are no draws.
mlir::Value spreadDraws(GraphBuilder &builder, std::optional<Tensor> draws,
                        double shift, double scale, mlir::Type element);

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_DRAWS_H
