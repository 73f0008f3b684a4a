//===- TrainCommand.cpp - sinter train ------------------------------------===//

#include "driver/Command.h"
#include "driver/Summary.h"
#include "driver/Text.h"
#include "driver/TrainingReport.h"
#include "train/Trainer.h"

#include <CLI/CLI.hpp>
#include <cstdio>

namespace sinter::driver {
namespace {

class TrainCommand : public Command {
public:
  explicit TrainCommand(CLI::App &app) { options.addTo(app); }

  Result<int> run() override {
    if (Result<void> good = options.check(); !good)
      return good.takeError();
    Result<SessionOptions> session = sessionOptions(options.common);
    if (!session)
      return session.takeError();
    options.model = options.common.model;
    auto opened = Trainer::open(options, std::move(*session));
    if (!opened)
      return opened.takeError();
    Trainer &trainer = **opened;
    if (!trainer.isFirst())
      muteNotes();
    if (!options.stepFile.empty())
      if (Result<void> done = trainer.writeStep(
              options.writesStates ? StepForm::Stateful : StepForm::Public,
              options.stepFile);
          !done)
        return done.takeError();
    Result<int> status =
        options.output.empty() ? Result<int>(0) : train(trainer);
    if (!status)
      return status;
    // If one fails, mpirun ends the others.
    if (Result<void> finished = trainer.finish(); !finished)
      return finished.takeError();
    return status;
  }

private:
  Result<int> train(Trainer &trainer) {
    TrainingReport report(options, trainer.totalSteps(), trainer.isFirst());
    if (Result<void> ready = trainer.resume(); !ready)
      return ready.takeError();
    if (Result<void> open =
            report.open(trainer.steps(), trainer.history().epochs().size());
        !open)
      return open.takeError();
    Result<std::optional<NotFiniteStep>> stopped = trainer.train(report);
    if (!stopped)
      return stopped.takeError();
    if (*stopped) {
      report.clear();
      if (trainer.isFirst())
        printTo(stderr, "sinter: %s: %s; nothing was written\n",
                options.common.model.c_str(), (*stopped)->text().c_str());
      return 1;
    }
    if (Result<void> written =
            trainer.write(options.output, options.overwrite.allowed());
        !written)
      return written.takeError();
    if (options.common.json && trainer.isFirst())
      printJson(trainer);
    return 0;
  }

  void printJson(const Trainer &trainer) const {
    nlohmann::json line = {{"model", options.common.model},
                           {"output", options.output},
                           {"steps", trainer.steps()},
                           {"weights", trainer.weightCount()},
                           {"epochs", trainer.history().epochs()}};
    if (trainer.best())
      line["best"] = trainer.best()->asJson();
    printJsonLine(line);
  }

  TrainCommandOptions options;
};

} // namespace

std::unique_ptr<Command> makeTrainCommand(CLI::App &app) {
  return std::make_unique<TrainCommand>(app);
}

} // namespace sinter::driver
