//===- ClassScores.h - scores of classes ----------------------------------===//
//
// A tensor of scores has one dimension of classes: [N, classes], [N, classes,
// rows, columns], [N, steps, classes]. A row is the scores of all classes at
// one index of the other dimensions.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_METRICS_CLASSSCORES_H
#define SINTER_METRICS_CLASSSCORES_H

#include "runtime/Tensor.h"

#include <optional>
#include <vector>

namespace sinter {

class ClassScores {
public:
  /// \p scores, of floats, with the classes in dimension \p axis.
  ClassScores(Tensor scores, int64_t axis);

  /// Classes in the last dimension but for dimensions of 1 after it: networks
  /// for images may end in [N, classes, 1, 1]. Nothing for other types than
  /// floats, for scalars, and for fewer than two classes.
  static std::optional<ClassScores> inRows(const Tensor &scores);
  /// The dimension of classes for labels of shape \p labels: that without
  /// which \p scores has their shape, the second if it fits, else the last.
  /// Dimensions of 1 behind the classes may be missing in labels. Nothing if
  /// none fits.
  static std::optional<ClassScores> forLabels(const Tensor &scores,
                                              const Shape &labels);

  int64_t rows() const { return outer * inner; }
  int64_t classes() const { return count; }
  double score(int64_t row, int64_t label) const {
    return tensor.toDouble((row / inner * count + label) * inner + row % inner);
  }
  /// A row with NaN has no top class.
  bool hasNaN(int64_t row) const;
  /// The class with the greatest score, the first of equal ones.
  int64_t top(int64_t row) const;
  /// How many classes are before \p label, by their scores and among equal ones
  /// by their indices; all if the row has NaN.
  int64_t rankOf(int64_t row, int64_t label) const;
  /// Whether no score is negative and their sum is 1, but for rounding.
  bool isDistribution(int64_t row) const;
  /// The row's scores if they are a distribution, else their softmax.
  std::vector<double> probabilities(int64_t row) const;
  /// The negative logarithm of the probability of \p label, where the scores
  /// are probabilities, or else logits.
  double logLoss(int64_t row, int64_t label, bool areProbabilities) const;

private:
  Tensor tensor;
  int64_t outer = 1, count = 1, inner = 1;
};

/// Softmax of \p values, unless they are a distribution (isDistribution).
void toProbabilities(std::vector<double> &values);

} // namespace sinter

#endif // SINTER_METRICS_CLASSSCORES_H
