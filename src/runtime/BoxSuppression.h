//===- BoxSuppression.h - boxes that overlap with no better one -----------===//

#ifndef SINTER_RUNTIME_BOXSUPPRESSION_H
#define SINTER_RUNTIME_BOXSUPPRESSION_H

#include "runtime/Tensor.h"

#include <array>
#include <functional>
#include <optional>

namespace sinter {

/// What nn.non_max_suppression takes besides boxes and scores.
struct BoxSuppression {
  /// Of each batch and class.
  int64_t most = 0;
  float iouThreshold = 0;
  /// Without one, every box whose score is a number is a candidate.
  std::optional<float> scoreThreshold;
  /// Whether boxes are centres and extents, not corners.
  bool isCentred = false;
};

/// Gives each box that is taken of \p boxes f32 [B, N, 4] by \p scores f32
/// [B, C, N] to \p take, as [batch, class, box], in this order and that of the
/// scores. Each candidate is compared with the boxes that were taken, so no
/// table of overlaps is made. False if the shapes do not fit.
bool suppressBoxes(const Tensor &boxes, const Tensor &scores,
                   const BoxSuppression &how,
                   const std::function<void(std::array<int64_t, 3>)> &take);

} // namespace sinter

#endif // SINTER_RUNTIME_BOXSUPPRESSION_H
