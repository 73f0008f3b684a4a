//===- Labels.h - class names for scores ----------------------------------===//
//
//     scores [2, 3]       rows [0] and [1], each with its most probable classes
//     scores [1, 5, 3]    a sequence: rows [0, 0], [0, 1], ...
//     scores [2, 3, 1, 1] as [2, 3]
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_DATA_LABELS_H
#define SINTER_DATA_LABELS_H

#include "engine/ModelDescription.h"
#include "runtime/Tensor.h"

#include <string>
#include <vector>

namespace sinter {

/// The key of a model's metadata under which the names of its classes are kept:
/// one a line, in the order of the scores.
inline constexpr const char *labelsKey = "sinter.labels";

/// The lines of the file \p path; System errors, and Usage for an empty file.
/// \p what names it in messages.
Result<std::vector<std::string>> readLabels(const std::string &path,
                                            const std::string &what);

/// The names that \p model keeps; none if it keeps none.
std::vector<std::string> keptLabels(const ModelDescription &model);
/// \p labels as the text that is kept. Usage error if a name has a line break.
Result<std::string> labelsText(const std::vector<std::string> &labels);

/// The names of the classes of \p model: those of the file \p path, or those
/// that the model keeps if \p path is empty; none if there are neither. Usage
/// error if the two differ in count or order; \p what names the file.
Result<std::vector<std::string>> labelsFor(const ModelDescription &model,
                                           const std::string &path,
                                           const std::string &what);

struct LabelScore {
  std::string label;
  double probability;
};

/// The scores of one row.
struct LabelledRow {
  /// Its position in all dimensions but that of the classes.
  std::vector<int64_t> index;
  /// Best first.
  std::vector<LabelScore> best;
};

/// Whether a tensor of this type and \p shape, which may have unknown
/// dimensions, may have scores of so many classes.
bool mayHaveClasses(ElementType type, const Shape &shape, size_t classes);

/// The \p most most probable classes of each row of \p scores. Rows that are no
/// distribution (each at least 0, sum 1) go through a softmax; a score that is
/// not a number comes last. Empty if the last dimension, but for those of size
/// 1 after it, does not match \p labels.
std::vector<LabelledRow> mostProbable(const Tensor &scores,
                                      const std::vector<std::string> &labels,
                                      size_t most);

/// Checks that one of \p outputs has scores of as many classes as there are \p
/// labels. The Usage error lists the outputs; \p what names the labels.
Result<void> checkLabels(std::span<const TensorSpec> outputs,
                         const std::vector<std::string> &labels,
                         const std::string &what);

} // namespace sinter

#endif // SINTER_DATA_LABELS_H
