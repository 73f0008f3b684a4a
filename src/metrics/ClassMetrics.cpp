//===- ClassMetrics.cpp - accuracy and cross-entropy of class scores ------===//

#include "metrics/ClassMetrics.h"

#include <cmath>

namespace sinter {

Result<void> checkLabels(const Tensor &labels, int64_t classes,
                         int64_t ignored) {
  if (!isInteger(labels.type()))
    return usageError("labels are integers, not " +
                      toString(labels.type(), labels.shape()));
  for (int64_t i = 0; i < labels.size(); ++i)
    if (const int64_t label = labels.toInteger(i);
        label != ignored && (label < 0 || label >= classes))
      return usageError("the label " + std::to_string(label) +
                        " is no class: the model has " +
                        std::to_string(classes) + ", from 0 on");
  return {};
}

SampleValue topAnswers(const ClassScores &scores, const Tensor &labels,
                       int64_t most, int64_t ignored) {
  SampleValue value;
  for (int64_t row = 0; row < scores.rows(); ++row) {
    const int64_t label = labels.toInteger(row);
    if (label == ignored)
      continue;
    value.sum += scores.rankOf(row, label) < most;
    ++value.weight;
  }
  return value;
}

void CrossEntropy::add(const ClassScores &scores, const Tensor &labels,
                       int64_t ignored) {
  SampleValue probabilities, logits;
  for (int64_t row = 0; row < scores.rows(); ++row) {
    const int64_t label = labels.toInteger(row);
    if (label == ignored)
      continue;
    allDistributions = allDistributions && scores.isDistribution(row);
    ++probabilities.weight;
    ++logits.weight;
    if (wanted.value_or(allDistributions))
      probabilities.sum +=
          scores.logLoss(row, label, /*areProbabilities=*/true);
    if (!wanted.value_or(false))
      logits.sum += scores.logLoss(row, label, /*areProbabilities=*/false);
  }
  ofProbabilities.add(probabilities);
  ofLogits.add(logits);
}

PairedDifference CrossEntropy::differenceFrom(const SampleMetric &other) const {
  if (const auto *same = dynamic_cast<const CrossEntropy *>(&other))
    return chosen().differenceFrom(same->chosen());
  return SampleMetric::differenceFrom(other);
}

SampleValue errorsOf(const Tensor &got, const Tensor &wanted,
                     bool areAbsolute) {
  SampleValue value;
  for (int64_t i = 0; i < wanted.size(); ++i) {
    const double error = got.toDouble(i) - wanted.toDouble(i);
    value.sum += areAbsolute ? std::abs(error) : error * error;
  }
  value.weight = static_cast<double>(wanted.size());
  return value;
}

} // namespace sinter
