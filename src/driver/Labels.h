//===- Labels.h - from scores to names of classes -------------------------===//

#ifndef SINTER_DRIVER_LABELS_H
#define SINTER_DRIVER_LABELS_H

#include "runtime/Tensor.h"

#include <string>
#include <vector>

namespace sinter::driver {

/// The lines of the file \p path; System errors, and Usage for an empty file.
Result<std::vector<std::string>> readLabels(const std::string &path);

struct LabelScore {
  std::string label;
  double probability;
};

/// The \p most probable classes of the first row of \p scores, best first.
/// Scores that are no distribution (each at least 0, together 1) go through a
/// softmax. Empty where the last dimension is not that of \p labels.
std::vector<LabelScore> mostProbable(const Tensor &scores,
                                     const std::vector<std::string> &labels,
                                     size_t most);

} // namespace sinter::driver

#endif // SINTER_DRIVER_LABELS_H
