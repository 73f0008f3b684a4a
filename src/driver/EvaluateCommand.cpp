//===- EvaluateCommand.cpp - sinter evaluate ------------------------------===//

#include "driver/Command.h"
#include "driver/CommonOptions.h"
#include "driver/InputOptions.h"
#include "driver/PostOptions.h"
#include "driver/Progress.h"
#include "driver/Summary.h"
#include "driver/Text.h"
#include "evaluate/EvaluationText.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace sinter::driver {
namespace {

class EvaluateCommand : public Command {
public:
  explicit EvaluateCommand(CLI::App &app) {
    addModel(app, common);
    addParameters(app, common);
    addFunction(app, common);
    addData(app);
    addMetrics(app);
    addShapes(app, common);
    addDynamic(app, common);
    addBinding(app, common);
    common.mayInterpret = true;
    addBackend(app, common);
    addPatterns(app, common);
    addCache(app, common);
    addReport(app, common);
  }

  const CommonOptions *modelOptions() const override { return &common; }

  Result<int> run() override {
    Result<SessionOptions> session = sessionOptions(common);
    if (!session)
      return session.takeError();
    if (bounds.mostLoss && options.against.empty())
      return usageError("--max-loss needs --against MODEL");
    if (isLogits && isProbabilities)
      return usageError("--logits and --probabilities: give one of them");
    if (isLogits || isProbabilities)
      options.rules.areProbabilities = isProbabilities;
    if (!post.steps.empty()) {
      Result<PostProcessing> steps =
          postProcessingFor(post, ModelDescription(), printNote);
      if (!steps)
        return steps.takeError();
      options.post = std::move(*steps);
    }
    options.model = common.model;
    options.session = std::move(*session);
    options.names = {"--against", "--metric", "--batch"};
    options.progress = [line = progressLine("evaluating", "samples")](
                           size_t done, size_t total) {
      line(static_cast<unsigned>(done), static_cast<unsigned>(total));
    };
    Result<EvaluationReport> report = evaluate(options);
    if (!report)
      return report.takeError();
    return finish(*report);
  }

private:
  void addData(CLI::App &app) {
    SampleOptions &data = options.data;
    data.names = {"--data", "--truth", "--labels"};
    app.add_option("--data", data.sources,
                   "labelled samples: a folder with a folder of images (or "
                   ".npy, .pb) for each class, an .npz with an array for each "
                   "input and 'target', an IDX file of images, or what --truth "
                   "tells the truth of")
        ->allow_extra_args(false)
        ->required()
        ->type_name("DIR|FILE")
        ->group("Data");
    app.add_option("--truth", data.truth,
                   "the right answers: lines of a file's name, a tab, and a "
                   "class's number or label; a folder with NAME.npy or "
                   "NAME.png (a class for each pixel) for each sample; or "
                   "boxes in COCO's form (.json)")
        ->type_name("FILE|DIR")
        ->group("Data");
    app.add_option("--labels", data.labels, "the classes' names, a line each")
        ->type_name("FILE")
        ->group("Data");
    app.add_option("-n,--samples", data.most,
                   "use at most this many, spread over all (default: all)")
        ->check(CLI::PositiveNumber)
        ->type_name("N")
        ->group("Data");
    app.add_option("-b,--batch", options.batch,
                   "samples a run, if the model's batch is dynamic (default: "
                   "8)")
        ->check(CLI::Range(1, 65536))
        ->type_name("N")
        ->group("Data");
    addPictures(app, data.pictures, "Data");
  }

  void addMetrics(CLI::App &app) {
    app.add_option_function<std::vector<std::string>>(
           "--metric",
           [this](const std::vector<std::string> &names) {
             for (const std::string &name : names)
               options.metrics.push_back(
                   valueOf("--metric", parseMetric(name)));
           },
           "top1, top5 (any number), cross-entropy, mse, mae, iou (of class "
           "maps), map (of boxes), with commas between (default: those that "
           "fit outputs and truth)")
        ->allow_extra_args(false)
        ->delimiter(',')
        ->type_name("NAME,...")
        ->group("Metrics");
    app.add_option("--against", options.against,
                   "another model on the same samples: its metrics, and the "
                   "differences with their confidence")
        ->type_name("MODEL")
        ->group("Metrics");
    addBounds(app);
    addPost(app, post, "Metrics", /*draws=*/false);
    app.add_option("--output-name", options.rules.output,
                   "the output to evaluate (default: the first that fits)")
        ->type_name("NAME")
        ->group("Metrics");
    app.add_option("--ignore-label", options.rules.ignoredLabel,
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

  void addBounds(CLI::App &app) {
    bounds.leastName = "--at-least";
    bounds.mostName = "--at-most";
    bounds.mostLossName = "--max-loss";
    const auto add = [&](const char *flag, std::vector<MetricBound> &list,
                         const char *what) {
      app.add_option_function<std::vector<std::string>>(
             flag,
             [&list, flag](const std::vector<std::string> &given) {
               for (const std::string &each : given)
                 list.push_back(valueOf(flag, parseBound(each)));
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

  template <typename T> static T valueOf(const char *flag, Result<T> parsed) {
    if (!parsed)
      throw CLI::ValidationError(flag, parsed.error().message());
    return std::move(*parsed);
  }

  Result<int> finish(const EvaluationReport &report) const {
    for (const std::string &note : report.notes)
      printNote(common.model + ": " + note);
    if (common.json) {
      nlohmann::json json = evaluationJson(report);
      json["backend"] = common.backend;
      json["precision"] = common.precision;
      printJsonLine(json);
    } else {
      printTo(stdout, "%s", evaluationText(report, common.verbose).c_str());
    }
    if (Result<void> held = checkBounds(report, bounds); !held)
      return held.takeError();
    return 0;
  }

  CommonOptions common;
  EvaluateOptions options;
  EvaluationBounds bounds;
  PostOptions post;
  bool isLogits = false, isProbabilities = false;
};

} // namespace

std::unique_ptr<Command> makeEvaluateCommand(CLI::App &app) {
  return std::make_unique<EvaluateCommand>(app);
}

} // namespace sinter::driver
