//===- Labels.h - class names for scores ----------------------------------===//

#ifndef SINTER_DATA_LABELS_H
#define SINTER_DATA_LABELS_H

#include "runtime/Tensor.h"

#include <string>
#include <vector>

namespace sinter {

/// The lines of the file \p path; System errors, and Usage for an empty file.
/// \p what names it in messages.
Result<std::vector<std::string>> readLabels(const std::string &path,
                                            const std::string &what);

struct LabelScore {
  std::string label;
  double probability;
};

/// The \p most most probable classes of the first row of \p scores, best first.
/// Scores that are no distribution (each at least 0, sum 1) go through a
/// softmax. Empty if the last dimension does not match \p labels.
std::vector<LabelScore> mostProbable(const Tensor &scores,
                                     const std::vector<std::string> &labels,
                                     size_t most);

} // namespace sinter

#endif // SINTER_DATA_LABELS_H
