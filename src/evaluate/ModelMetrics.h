//===- ModelMetrics.h - the metrics of a model's outputs ------------------===//

#ifndef SINTER_EVALUATE_MODELMETRICS_H
#define SINTER_EVALUATE_MODELMETRICS_H

#include "evaluate/EvaluationData.h"
#include "metrics/SampleMetric.h"
#include "metrics/SampledMean.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sinter {

/// A metric by its name: "top1" and any other count, "cross-entropy", "mse",
/// "mae", "iou", "map".
struct MetricName {
  enum class Kind {
    Top,              ///< The label is among the best classes.
    CrossEntropy,     ///< Of labels, in nats.
    MeanSquared,      ///< Of elements.
    MeanAbsolute,     ///< Of elements.
    Overlap,          ///< Intersection over union of class maps.
    AveragePrecision, ///< Of boxes.
  };
  Kind kind = Kind::Top;
  /// How many classes count as best.
  int64_t most = 1;

  std::string text() const;
  /// Whether less is better.
  bool isLoss() const;
  /// Whether it is a proportion, from 0 to 1.
  bool isPart() const { return !isLoss(); }
  bool operator==(const MetricName &) const = default;
};

/// Parses a name; Usage error, with the names there are, for other texts.
Result<MetricName> parseMetric(const std::string &text);

/// What metrics need to know besides outputs and truth.
struct MetricRules {
  /// Labels with this value are ignored.
  int64_t ignoredLabel = -100;
  /// Whether scores are probabilities or logits; nothing: see CrossEntropy.
  std::optional<bool> areProbabilities;
  /// The output that is evaluated; empty: the first that fits.
  std::string output;
  /// The number of classes of maps of integers.
  int64_t mapClasses = 256;
  /// Whether truth is boxes, and add() gets those that were found.
  bool areBoxes = false;
};

class ModelMetrics {
public:
  struct Entry {
    MetricName name;
    /// The index of the output; for boxes there is none.
    std::optional<size_t> output;
    std::unique_ptr<SampleMetric> metric;
  };

  /// Those called \p names for a model with outputs called \p outputNames;
  /// none: those that fit. \p outputs and \p truth are of a sample. Usage error
  /// if no output fits.
  static Result<ModelMetrics> of(const std::vector<MetricName> &names,
                                 const std::vector<std::string> &outputNames,
                                 const std::vector<Tensor> &outputs,
                                 const SampleTruth &truth, MetricRules rules);

  /// \p detections: for boxes those that the outputs stand for, in the pixels
  /// of the truth's image. Usage errors if outputs or truth are not like the
  /// first ones, or a label is none of the model's.
  Result<void> add(const std::vector<Tensor> &outputs, const SampleTruth &truth,
                   const std::vector<Detection> &detections = {});

  const std::vector<Entry> &entries() const { return all; }
  /// The most probable classes of a sample, in the output that accuracy or
  /// overlap is of; nothing for other metrics.
  std::optional<std::vector<int64_t>>
  answers(const std::vector<Tensor> &outputs, const SampleTruth &truth) const;
  /// Whether truth maps were resized to the size of an output.
  bool hasResizedTruth() const { return isTruthResized; }

private:
  Result<void> addTo(Entry &entry, const std::vector<Tensor> &outputs,
                     const SampleTruth &truth,
                     const std::vector<Detection> &detections);
  Result<void> addMap(Entry &entry, const Tensor &output,
                      const SampleTruth &truth);

  std::vector<Entry> all;
  MetricRules rules;
  bool isTruthResized = false;
};

} // namespace sinter

#endif // SINTER_EVALUATE_MODELMETRICS_H
