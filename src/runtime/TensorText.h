//===- TensorText.h - a tensor's values as text ---------------------------===//

#ifndef SINTER_RUNTIME_TENSORTEXT_H
#define SINTER_RUNTIME_TENSORTEXT_H

#include "runtime/Tensor.h"

#include <string>

namespace sinter {

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
