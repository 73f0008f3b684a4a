//===- TensorText.h - a tensor's values as text ---------------------------===//

#ifndef SINTER_RUNTIME_TENSORTEXT_H
#define SINTER_RUNTIME_TENSORTEXT_H

#include "runtime/Tensor.h"

#include <string>
#include <utility>

namespace sinter {

/// The number of significant digits; a NaN has no sign.
std::string numberText(double value, int digits = 6);

/// Element \p index as text: "true", "-3", "0.25", "1-2i"; a string in quotes.
std::string elementText(const Tensor &tensor, int64_t index, int digits = 6);
/// Element \p index of both tensors, with as many digits as distinguish them,
/// if any do.
std::pair<std::string, std::string>
elementTexts(const Tensor &a, const Tensor &b, int64_t index);

/// The index of element \p index of a tensor of that shape: "[0, 2]".
std::string indexText(const Shape &shape, int64_t index);

/// The type and all values, nested as the dimensions are, in the form that the
/// public interpreter of StableHLO prints:
///
///     tensor<2x2xi8> {
///       [
///         [1, 2],
///         [3, 4]
///       ]
///     }
std::string tensorText(const Tensor &tensor);

} // namespace sinter

#endif // SINTER_RUNTIME_TENSORTEXT_H
