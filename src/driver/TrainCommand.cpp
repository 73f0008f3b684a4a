//===- TrainCommand.cpp - sinter train ------------------------------------===//

#include "driver/Command.h"
#include "driver/Interrupt.h"
#include "driver/Summary.h"
#include "driver/Text.h"
#include "driver/TrainingReport.h"
#include "engine/MpiLibrary.h"
#include "train/Trainer.h"

#include <CLI/CLI.hpp>
#include <cstdio>

namespace sinter::driver {
namespace {

class TrainCommand : public Command {
public:
  explicit TrainCommand(CLI::App &app) { options.addTo(app); }

  const CommonOptions *modelOptions() const override { return &options.common; }

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
  /// Runs the steps. Ends this process if a signal asks for it.
  Result<std::optional<NotFiniteStep>> train(Trainer &trainer,
                                             TrainingReport &report) const {
    // Processes of MPI wait for each other: none of them ends between steps.
    std::optional<Interrupt> interrupt;
    if (!isUnderMpi())
      interrupt.emplace();
    auto stopped = trainer.train(report);
    if (stopped || !Interrupt::isAsked() ||
        stopped.error().kind != ErrorKind::Cancelled)
      return stopped;
    printError(options.common.model + ": interrupted after step " +
               std::to_string(trainer.steps()) + " of " +
               std::to_string(trainer.totalSteps()) + "; " +
               whatIsKept(trainer));
    std::fflush(stdout);
    Interrupt::end();
    return stopped;
  }

  /// What an interrupted run leaves, and how to go on.
  std::string whatIsKept(const Trainer &trainer) const {
    const std::string &folder = options.checkpointFolder;
    if (folder.empty())
      return "nothing was kept: with --checkpoint-dir DIR a run keeps its "
             "state, and --resume goes on from it";
    if (!trainer.keptStep())
      return "no checkpoint could be written to '" + folder + "'";
    return "step " + std::to_string(*trainer.keptStep()) + " is kept in '" +
           folder + "': the same command with --resume goes on from it";
  }

  Result<int> train(Trainer &trainer) {
    TrainingReport report(options, trainer.totalSteps(), trainer.isFirst());
    if (Result<void> ready = trainer.resume(); !ready)
      return ready.takeError();
    if (Result<void> open =
            report.open(trainer.steps(), trainer.history().epochs().size());
        !open)
      return open.takeError();
    Result<std::optional<NotFiniteStep>> stopped = train(trainer, report);
    if (!stopped)
      return stopped.takeError();
    if (*stopped) {
      if (trainer.isFirst())
        printError(options.common.model + ": " + (*stopped)->text() +
                   "; nothing was written");
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
