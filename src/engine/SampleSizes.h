//===- SampleSizes.h - sizes of dynamic dimensions to check a model at ----===//
//
//     smallest   each symbolic dimension as small as the model allows
//     odd        each an odd number, no two the same where that is allowed
//     large      each beyond what kernels take at a time
//
// One program serves all sizes, so checks run it at several. The model decides
// whether sizes are valid: windows must fit, products divide.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_ENGINE_SAMPLESIZES_H
#define SINTER_ENGINE_SAMPLESIZES_H

#include "engine/Binding.h"

namespace sinter {

/// A static shape for each input, and the chosen sizes, by symbolOf(); none if
/// all were static.
struct SampleSizes {
  std::vector<Shape> shapes;
  std::vector<std::pair<std::string, int64_t>> chosen;

  /// "N = 3, x[2] = 7"; empty if nothing was chosen.
  std::string text() const;
};

/// "N = 1; N = 3; N = 4".
std::string toString(std::span<const SampleSizes> sizes);

/// Whether a model accepts inputs of these shapes.
using AllowsShapes = std::function<bool(const std::vector<Shape> &)>;

/// Up to three different choices for the dimensions of \p shapes, one per input
/// of \p model, that are -1; dimensions of one symbol get one size. One without
/// choices if all are static. None if no sizes are found that \p allows.
std::vector<SampleSizes> sampleSizes(const ModelDescription &model,
                                     const std::vector<Shape> &shapes,
                                     const AllowsShapes &allows);

/// A tensor of \p shape that repeats or truncates the elements of \p tensor
/// along each dimension: similar values of another size. \p tensor has elements
/// and the same rank.
Tensor repeatedTo(const Tensor &tensor, const Shape &shape);

} // namespace sinter

#endif // SINTER_ENGINE_SAMPLESIZES_H
