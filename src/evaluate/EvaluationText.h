//===- EvaluationText.h - the report of an evaluation ---------------------===//

#ifndef SINTER_EVALUATE_EVALUATIONTEXT_H
#define SINTER_EVALUATE_EVALUATIONTEXT_H

#include "evaluate/Evaluation.h"

#include <nlohmann/json_fwd.hpp>

namespace sinter {

/// A value as it is printed: "91.67 %" for a proportion, "0.2871" for others.
std::string metricValueText(const MetricName &name, double value);

/// A line for each metric, with \p perClass one for each class, too.
std::string evaluationText(const EvaluationReport &report, bool perClass);
/// The keys are those of docs/evaluate.md; values that are not finite are null.
nlohmann::json evaluationJson(const EvaluationReport &report);

/// A bound of a metric: "top1=0.75", "iou=62.5%".
struct MetricBound {
  MetricName name;
  double value = 0;
  /// As it was given.
  std::string text;
};
/// Parses one; Usage error for other texts, and for proportions outside of 0 to
/// 1.
Result<MetricBound> parseBound(const std::string &text);

/// What has to hold of a report.
struct EvaluationBounds {
  std::vector<MetricBound> least, most;
  /// How many points (hundredths) the first proportion may be below that of the
  /// other model.
  std::optional<double> mostLoss;
  /// The names of these in messages.
  std::string leastName = "least", mostName = "most", mostLossName = "mostLoss";
};
/// Whether they hold: a WrongResult that names the first that does not, and a
/// Usage error for metrics that were not computed.
Result<void> checkBounds(const EvaluationReport &report,
                         const EvaluationBounds &bounds);

} // namespace sinter

#endif // SINTER_EVALUATE_EVALUATIONTEXT_H
