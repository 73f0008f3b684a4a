//===- EvaluateChoices.h - options and report of `sinter evaluate` --------===//

#ifndef SINTER_INTERFACE_EVALUATECHOICES_H
#define SINTER_INTERFACE_EVALUATECHOICES_H

#include "evaluate/EvaluationText.h"
#include "interface/CommonOptions.h"

namespace CLI {
class App;
} // namespace CLI

namespace sinter {

/// What a user chooses: data, metrics, bounds.
class EvaluateChoices {
public:
  /// --data, --metric, --at-least, ... and how images become inputs, but not
  /// --against: programs have another model, not its name. \p app must outlive
  /// this.
  void add(CLI::App &app);
  /// What was chosen, but for models, sessions and callbacks; \p hasOther:
  /// whether there is a model to compare with. Usage error where choices
  /// exclude each other.
  Result<EvaluateOptions> options(bool hasOther) const;

  /// For notes of loading.
  SampleOptions data;
  EvaluationBounds bounds;

private:
  void addData(CLI::App &app);
  void addMetrics(CLI::App &app);
  void addBounds(CLI::App &app);

  std::vector<MetricName> metrics;
  MetricRules rules;
  std::vector<std::string> post;
  int64_t batch = 0;
  bool isLogits = false, isProbabilities = false;
};

/// evaluationJson() of \p report, and how the models ran by \p common.
nlohmann::json asJson(const EvaluationReport &report,
                      const CommonOptions &common);

} // namespace sinter

#endif // SINTER_INTERFACE_EVALUATECHOICES_H
