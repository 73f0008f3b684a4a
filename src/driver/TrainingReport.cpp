//===- TrainingReport.cpp - output of training ----------------------------===//

#include "driver/TrainingReport.h"

#include "driver/LossCurvePicture.h"
#include "driver/Text.h"
#include "runtime/Json.h"
#include "runtime/MappedFile.h"

#include <cstdio>
#include <filesystem>

namespace sinter::driver {

/// The lines of the log of \p file up to step \p steps and epoch \p epochs.
static std::string linesUpTo(const std::string &file, uint64_t steps,
                             uint64_t epochs) {
  std::string kept;
  std::ifstream old(file);
  for (std::string line; std::getline(old, line);) {
    // The log of a killed process may end within a line.
    const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object())
      continue;
    if (json.contains("step") ? json.value("step", uint64_t(0)) <= steps
                              : json.value("epoch", uint64_t(0)) <= epochs)
      kept += line + '\n';
  }
  return kept;
}

Result<void> TrainingReport::open(uint64_t steps, uint64_t epochs) {
  if (options.logFile.empty() || !tells)
    return {};
  auto mode = std::ios::out;
  std::error_code error;
  if (steps != 0 && std::filesystem::is_regular_file(options.logFile, error)) {
    // Flushed, so that the lines survive if the process is killed.
    Result<void> kept = writeFileAtomically(
        options.logFile, linesUpTo(options.logFile, steps, epochs));
    if (!kept)
      return systemError("--log: " + kept.error().message());
    mode |= std::ios::app;
  }
  logStream.open(options.logFile, mode);
  if (!logStream)
    return systemError("--log '" + options.logFile + "': cannot be written to");
  return {};
}

void TrainingReport::log(const nlohmann::json &line) {
  if (!logStream.is_open())
    return;
  logStream << jsonText(line) << '\n' << std::flush;
  if (logStream)
    return;
  printNote("--log '" + options.logFile +
            "': cannot be written to; the run goes on without it");
  logStream.close();
}

void TrainingReport::draw(const LossCurve &curve) {
  if (options.curveFile.empty() || !tells)
    return;
  Result<void> drawn = writeFileAtomically(
      options.curveFile, lossCurveSvg(curve, options.common.model));
  if (!drawn && std::exchange(isDrawn, false))
    printNote("--curve: " + drawn.error().message() + "; the run goes on");
}

/// "loss 0.3412", for several losses "loss 0.3412 (0.3165, 0.0823)": the sum,
/// and each of them.
static std::string lossText(const Epoch &epoch) {
  std::string line = text("loss %.4f", epoch.meanLoss());
  const char *between = " (";
  for (double each : epoch.meanLosses()) {
    line += between + text("%.4f", each);
    between = ", ";
  }
  return epoch.losses.empty() ? line : line + ")";
}

void TrainingReport::step(const DoneStep &step, const Epoch &sofar) {
  Interrupt::ready();
  if (activity)
    activity->update(step.number, totalSteps, "steps", status(step, sofar));
  nlohmann::json line = {
      {"step", step.number},
      {"epoch", step.epoch + 1},
      {"loss", lossJson(step.loss)},
      {"lr", step.rate},
      {"ms", step.seconds * 1e3},
      {"samples_per_s", static_cast<double>(step.samples) / step.seconds}};
  if (!step.losses.empty())
    line["losses"] = lossesJson(step.losses);
  log(line);
}

/// "epoch 1 of 10: loss 0.3412, accuracy 91.20 %, 523 samples/s".
std::string TrainingReport::status(const DoneStep &step,
                                   const Epoch &sofar) const {
  std::string line = text("epoch %llu of %llu: ",
                          static_cast<unsigned long long>(step.epoch + 1),
                          static_cast<unsigned long long>(options.epochs)) +
                     lossText(sofar);
  if (sofar.hasLabels)
    line += text(", accuracy %.2f %%", sofar.accuracy() * 100);
  return line + text(", %.0f samples/s",
                     static_cast<double>(step.samples) / step.seconds);
}

void TrainingReport::epoch(const DoneEpoch &epoch,
                           const TrainingHistory &history) {
  const std::optional<Epoch> &judged = epoch.judged;
  std::string line = text("epoch %llu of %llu: ",
                          static_cast<unsigned long long>(epoch.number + 1),
                          static_cast<unsigned long long>(options.epochs)) +
                     lossText(epoch.trained);
  if (epoch.trained.hasLabels)
    line += text(", accuracy %.2f %%", epoch.trained.accuracy() * 100);
  if (judged)
    line += "; validation " + lossText(*judged);
  if (judged && judged->hasLabels)
    line += text(", accuracy %.2f %%", judged->accuracy() * 100);
  line += text("; %.1f s, %.0f samples/s", epoch.seconds,
               static_cast<double>(epoch.samples) / epoch.seconds);
  if (!options.common.json && tells)
    printTo(stdout, "%s\n", line.c_str());
  std::fflush(stdout);
  if (judged) {
    nlohmann::json judgement = {{"epoch", epoch.number + 1},
                                {"validation_loss", judged->meanLoss()}};
    if (!judged->losses.empty())
      judgement["validation_losses"] = lossesJson(judged->meanLosses());
    if (judged->hasLabels)
      judgement["accuracy"] = judged->accuracy();
    log(judgement);
  }
  draw(history.curve());
}

} // namespace sinter::driver
