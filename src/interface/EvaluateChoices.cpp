#include "interface/EvaluateChoices.h"

#include "interface/PostChoices.h"
#include "interface/PreprocessingOptions.h"
#include "interface/SampleChoices.h"
#include "runtime/OptionNames.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace sinter {

/// What \p parsed holds; throws CLI11's error for an invalid value of \p flag.
template <typename T>
static T valueOfOption(const char *flag, Result<T> parsed) {
  if (!parsed)
    throw CLI::ValidationError(flag, parsed.error().message());
  return std::move(*parsed);
}

void EvaluateChoices::add(CLI::App &app) {
  addData(app);
  addMetrics(app);
}

void EvaluateChoices::addData(CLI::App &app) {
  data.names.sources = optionText("data");
  data.pictures.names = {optionText("input")};
  app.add_option("--data", data.sources,
                 "labelled samples: a folder with a folder of images (or "
                 ".npy, .pb) for each class, an .npz with an array for each "
                 "input and 'target', an IDX file of images, or what --truth "
                 "tells the truth of")
      ->allow_extra_args(false)
      ->type_name("DIR|FILE")
      ->group("Data");
  addLabelledSamples(app, data, "Data",
                     "the right answers: lines of a file's name, a tab, and a "
                     "class's number or label; a folder with NAME.npy or "
                     "NAME.png (a class for each pixel) for each sample; or "
                     "boxes in COCO's form (.json)",
                     "FILE|DIR");
  app.add_option("-b,--batch", batch,
                 "samples a run, if the model's batch is dynamic (default: "
                 "8)")
      ->check(CLI::Range(1, 65536))
      ->type_name("N")
      ->group("Data");
  addPreprocessing(app, data.pictures.preprocessing, "Data");
}

void EvaluateChoices::addMetrics(CLI::App &app) {
  app.add_option_function<std::vector<std::string>>(
         "--metric",
         [this](const std::vector<std::string> &names) {
           for (const std::string &name : names)
             metrics.push_back(valueOfOption("--metric", parseMetric(name)));
         },
         "top1, top5 (any number), cross-entropy, mse, mae, iou (of class "
         "maps), map (of boxes), with commas between (default: those that "
         "fit outputs and truth)")
      ->allow_extra_args(false)
      ->delimiter(',')
      ->type_name("NAME,...")
      ->group("Metrics");
  addBounds(app);
  addPostSteps(app, post, "Metrics");
  app.add_option("--output-name", rules.output,
                 "the output to evaluate (default: the first that fits)")
      ->type_name("NAME")
      ->group("Metrics");
  app.add_option("--ignore-label", rules.ignoredLabel,
                 "labels to ignore (default: -100)")
      ->type_name("N")
      ->group("Metrics");
  app.add_flag("--logits", isLogits, "the output holds logits")
      ->group("Metrics");
  app.add_flag("--probabilities", isProbabilities,
               "the output holds probabilities (default: if all of its rows "
               "are distributions)")
      ->group("Metrics");
}

void EvaluateChoices::addBounds(CLI::App &app) {
  bounds.leastName = optionText("at-least");
  bounds.mostName = optionText("at-most");
  bounds.mostLossName = optionText("max-loss");
  const auto add = [&](const char *flag, std::vector<MetricBound> &list,
                       const char *what) {
    app.add_option_function<std::vector<std::string>>(
           flag,
           [&list, flag](const std::vector<std::string> &given) {
             for (const std::string &each : given)
               list.push_back(valueOfOption(flag, parseBound(each)));
           },
           what)
        ->allow_extra_args(false)
        ->delimiter(',')
        ->type_name("METRIC=VALUE,...")
        ->group("Metrics");
  };
  add("--at-least", bounds.least,
      "exit with 1 if a metric is less, as in top1=0.75 or top1=75%");
  add("--at-most", bounds.most,
      "exit with 1 if a metric is greater, as in cross-entropy=0.3");
  app.add_option("--max-loss", bounds.mostLoss,
                 "exit with 1 if the first proportion is lower than that of "
                 "--against by more points (hundredths)")
      ->check(CLI::Range(0.0, 100.0) & isNumber())
      ->type_name("POINTS")
      ->group("Metrics");
}

Result<EvaluateOptions> EvaluateChoices::options(bool hasOther) const {
  if (bounds.mostLoss && !hasOther)
    return usageError(bounds.mostLossName + " needs " + optionText("against") +
                      " MODEL");
  if (isLogits && isProbabilities)
    return usageError(optionText("logits") + " and " +
                      optionText("probabilities") + ": give one of them");
  EvaluateOptions chosen;
  chosen.data = data;
  chosen.metrics = metrics;
  chosen.rules = rules;
  if (isLogits || isProbabilities)
    chosen.rules.areProbabilities = isProbabilities;
  Result<std::optional<PostProcessing>> steps = postStepsOf(post);
  if (!steps)
    return steps.takeError();
  chosen.post = std::move(*steps);
  chosen.batch = batch;
  chosen.names = {optionText("against"), optionText("metric"),
                  optionText("batch")};
  return chosen;
}

nlohmann::json asJson(const EvaluationReport &report,
                      const CommonOptions &common) {
  nlohmann::json json = evaluationJson(report);
  json["backend"] = common.backend;
  json["precision"] = common.precision;
  return json;
}

} // namespace sinter
