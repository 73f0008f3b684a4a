//===- EvaluateCommand.cpp - sinter evaluate ------------------------------===//

#include "driver/Command.h"
#include "driver/CommonOptions.h"
#include "driver/InputOptions.h"
#include "driver/Progress.h"
#include "driver/Summary.h"
#include "driver/Text.h"
#include "interface/EvaluateChoices.h"
#include "interface/OnceEach.h"

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
    choices.add(app);
    choices.data.pictures.note = onceEach(printNote);
    app.get_option("--data")->required();
    app.add_option("--against", against,
                   "another model on the same samples: its metrics, and the "
                   "differences with their confidence")
        ->type_name("MODEL")
        ->group("Metrics");
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
    Result<EvaluateOptions> options = choices.options(!against.empty());
    if (!options)
      return options.takeError();
    options->model = common.model;
    options->against = against;
    options->session = std::move(*session);
    options->progress = [line = progressLine("evaluating", "samples")](
                            size_t done, size_t total) {
      line(static_cast<unsigned>(done), static_cast<unsigned>(total));
    };
    Result<EvaluationReport> report = evaluate(*options);
    if (!report)
      return report.takeError();
    return finish(*report);
  }

private:
  Result<int> finish(const EvaluationReport &report) const {
    for (const std::string &note : report.notes)
      printNote(common.model + ": " + note);
    if (common.json)
      printJsonLine(asJson(report, common));
    else
      printTo(stdout, "%s", evaluationText(report, common.verbose).c_str());
    if (Result<void> held = checkBounds(report, choices.bounds); !held)
      return held.takeError();
    return 0;
  }

  CommonOptions common;
  EvaluateChoices choices;
  std::string against;
};

} // namespace

std::unique_ptr<Command> makeEvaluateCommand(CLI::App &app) {
  return std::make_unique<EvaluateCommand>(app);
}

} // namespace sinter::driver
