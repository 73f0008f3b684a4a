//===- ClassMetrics.h - accuracy and cross-entropy of class scores --------===//

#ifndef SINTER_METRICS_CLASSMETRICS_H
#define SINTER_METRICS_CLASSMETRICS_H

#include "metrics/ClassScores.h"
#include "metrics/SampledMean.h"

namespace sinter {

/// The Usage error if \p labels, integers, has one that is neither \p ignored
/// nor a class of 0 to \p classes - 1, or is of another type.
Result<void> checkLabels(const Tensor &labels, int64_t classes,
                         int64_t ignored);

/// How many labels are among the \p most classes with the greatest scores, and
/// how many labels there are. \p labels has as many elements as \p scores has
/// rows, and was checked.
SampleValue topAnswers(const ClassScores &scores, const Tensor &labels,
                       int64_t most, int64_t ignored);

/// The mean over labels of the negative logarithm of the label's probability,
/// in f64. Infinite if a probability is 0.
class CrossEntropy : public SampleMetric {
public:
  /// \p areProbabilities: whether the scores are probabilities; nothing: if all
  /// of them are distributions, else they are logits.
  explicit CrossEntropy(std::optional<bool> areProbabilities)
      : wanted(areProbabilities) {}

  /// As for topAnswers().
  void add(const ClassScores &scores, const Tensor &labels, int64_t ignored);
  bool areProbabilities() const { return wanted.value_or(allDistributions); }

  size_t samples() const override { return chosen().samples(); }
  double valueOver(std::span<const uint32_t> times) const override {
    return chosen().valueOver(times);
  }
  Estimate estimate() const override { return chosen().estimate(); }
  PairedDifference differenceFrom(const SampleMetric &other) const override;

private:
  const SampledMean &chosen() const {
    return areProbabilities() ? ofProbabilities : ofLogits;
  }

  std::optional<bool> wanted;
  bool allDistributions = true;
  SampledMean ofProbabilities = SampledMean(false),
              ofLogits = SampledMean(false);
};

/// The squared (or with \p areAbsolute absolute) errors of a sample's elements
/// in f64. Both have the same shape.
SampleValue errorsOf(const Tensor &got, const Tensor &wanted,
                     bool areAbsolute = false);

} // namespace sinter

#endif // SINTER_METRICS_CLASSMETRICS_H
