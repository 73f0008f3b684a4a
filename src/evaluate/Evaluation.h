//===- Evaluation.h - how right a model is on labelled samples ------------===//
//
// Runs a model, or two beside each other, on samples whose truth is known, and
// computes metrics with confidence intervals. Prints nothing.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_EVALUATE_EVALUATION_H
#define SINTER_EVALUATE_EVALUATION_H

#include "evaluate/ModelMetrics.h"
#include "post/PostProcessing.h"

#include <map>

namespace sinter {

/// The names of the fields of EvaluateOptions in messages.
struct EvaluateNames {
  std::string against = "against", metrics = "metrics", batch = "batch";
};

struct EvaluateOptions {
  std::string model;
  /// Another model on the same samples; empty: none.
  std::string against;
  /// How both are read, compiled and run, or the first alone.
  SessionOptions session;
  std::optional<SessionOptions> againstSession;
  SampleOptions data;
  /// Samples of a program, in place of the sources of `data`.
  std::optional<GivenSamples> given;
  /// Empty: those that fit outputs and truth.
  std::vector<MetricName> metrics;
  MetricRules rules;
  /// Applied to the outputs; nothing: the steps that the first model keeps.
  /// Truth of boxes needs the step `boxes`, which is added with its usual
  /// settings if it is missing.
  std::optional<PostProcessing> post;
  /// The samples of a run of a model whose batch is dynamic; 0: up to 8.
  int64_t batch = 0;
  /// Ends the evaluation; may be null.
  std::shared_ptr<const Cancellation> cancellation;
  /// Called after samples were evaluated; may be empty.
  std::function<void(size_t done, size_t total)> progress;
  EvaluateNames names;
};

/// A metric of one model.
struct EvaluatedMetric {
  MetricName name;
  /// The evaluated output; empty for boxes.
  std::string output;
  Estimate estimate;
  /// Of iou and map, by class, for those that occur.
  std::map<int64_t, double> classes;
  /// Of map: at an overlap of 0.5 alone.
  std::optional<double> atHalf;
  /// Of cross-entropy: whether the scores are probabilities.
  std::optional<bool> areProbabilities;
};

struct EvaluatedSide {
  std::string model;
  std::vector<EvaluatedMetric> metrics;
  /// The time of the runs alone, and how many there were.
  double seconds = 0;
  uint64_t runs = 0;
};

struct EvaluationReport {
  size_t samples = 0;
  /// From the first sample to the last, with loading.
  double seconds = 0;
  EvaluatedSide model;
  std::optional<EvaluatedSide> against;
  /// For each metric, of the model less the other.
  std::vector<PairedDifference> differences;
  /// The part of the answers that both models give alike.
  std::optional<Estimate> agreement;
  /// Whether metrics were chosen by outputs and truth.
  bool areChosen = false;
  /// The classes' names, if they are known.
  std::vector<std::string> labels;
  std::vector<std::string> notes;
};

/// Usage errors if samples, metrics and the models do not fit together, with
/// the sample's name; Cancelled.
Result<EvaluationReport> evaluate(const EvaluateOptions &options);

} // namespace sinter

#endif // SINTER_EVALUATE_EVALUATION_H
