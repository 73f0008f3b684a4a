//===- TrainingReport.cpp - what a user is told of training ---------------===//

#include "driver/TrainingReport.h"

#include "driver/Text.h"
#include "runtime/MappedFile.h"

#include <cmath>
#include <cstdio>
#include <filesystem>

namespace sinter::driver {

/// The lines of the log of \p file up to step \p steps and epoch \p epochs.
static std::string linesUpTo(const std::string &file, uint64_t steps,
                             uint64_t epochs) {
  std::string kept;
  std::ifstream old(file);
  for (std::string line; std::getline(old, line);) {
    // What a process that was killed left behind may end within a line.
    const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object())
      continue;
    if (json.contains("step") ? json.value("step", uint64_t(0)) <= steps
                              : json.value("epoch", uint64_t(0)) <= epochs)
      kept += line + '\n';
  }
  return kept;
}

Result<void> TrainingReport::open(uint64_t steps) {
  if (options.logFile.empty() || !tells)
    return {};
  auto mode = std::ios::out;
  std::error_code error;
  if (steps != 0 && std::filesystem::is_regular_file(options.logFile, error)) {
    // At once, so that the lines survive a process that is killed here.
    Result<void> kept = writeFileAtomically(
        options.logFile, linesUpTo(options.logFile, steps, epochs.size()));
    if (!kept)
      return systemError("--log: " + kept.error().message);
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
  logStream << line.dump() << '\n' << std::flush;
  if (logStream)
    return;
  clear();
  printNote("--log '" + options.logFile +
            "': cannot be written to; the run goes on without it");
  logStream.close();
}

void TrainingReport::draw() {
  if (options.curveFile.empty() || !tells)
    return;
  Result<void> drawn =
      writeFileAtomically(options.curveFile, curve.svg(options.common.model));
  if (!drawn && std::exchange(isDrawn, false))
    printNote("--curve: " + drawn.error().message + "; the run goes on");
}

/// A number, or null for what JSON has no form of.
static nlohmann::json numberOf(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
}

static nlohmann::json numbersOf(const std::vector<double> &values) {
  nlohmann::json all = nlohmann::json::array();
  for (double each : values)
    all.push_back(numberOf(each));
  return all;
}

/// "loss 0.3412", of several "loss 0.3412 (0.3165, 0.0823)": the sum, and each
/// by itself.
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
  if (std::isfinite(step.loss))
    curve.add(step.loss);
  show(status(step, sofar));
  nlohmann::json line = {
      {"step", step.number},
      {"epoch", step.epoch + 1},
      {"loss", numberOf(step.loss)},
      {"lr", step.rate},
      {"ms", step.seconds * 1e3},
      {"samples_per_s", static_cast<double>(step.samples) / step.seconds}};
  if (!step.losses.empty())
    line["losses"] = numbersOf(step.losses);
  log(line);
}

/// "step 120 of 4000, epoch 1 of 10: loss 0.3412, accuracy 91.20 %, 523
/// samples/s, 3 min 20 s left".
std::string TrainingReport::status(const DoneStep &step, const Epoch &sofar) {
  using Clock = std::chrono::steady_clock;
  std::string line = text("step %llu of %llu, epoch %llu of %llu: ",
                          static_cast<unsigned long long>(step.number),
                          static_cast<unsigned long long>(totalSteps),
                          static_cast<unsigned long long>(step.epoch + 1),
                          static_cast<unsigned long long>(options.epochs)) +
                     lossText(sofar);
  if (sofar.hasLabels)
    line += text(", accuracy %.2f %%", sofar.accuracy() * 100);
  line += text(", %.0f samples/s",
               static_cast<double>(step.samples) / step.seconds);
  if (!begin) {
    begin = Clock::now();
    firstStep = step.number;
    return line;
  }
  const std::chrono::duration<double> passed = Clock::now() - *begin;
  const double each =
      passed.count() / static_cast<double>(step.number - firstStep);
  const auto rest = static_cast<double>(totalSteps - step.number);
  return line + ", " + durationText(each * rest) + " left";
}

void TrainingReport::epoch(uint64_t epoch, uint64_t steps, const Epoch &trained,
                           const std::optional<Epoch> &judged, double seconds,
                           size_t samples) {
  nlohmann::json entry = {{"epoch", epoch + 1}, {"loss", trained.meanLoss()}};
  std::string line =
      text("epoch %llu of %llu: ", static_cast<unsigned long long>(epoch + 1),
           static_cast<unsigned long long>(options.epochs)) +
      lossText(trained);
  if (!trained.losses.empty())
    entry["losses"] = numbersOf(trained.meanLosses());
  if (trained.hasLabels) {
    entry["accuracy"] = trained.accuracy();
    line += text(", accuracy %.2f %%", trained.accuracy() * 100);
  }
  if (judged) {
    entry["validation_loss"] = judged->meanLoss();
    line += "; validation " + lossText(*judged);
    if (!judged->losses.empty())
      entry["validation_losses"] = numbersOf(judged->meanLosses());
    if (judged->hasLabels) {
      entry["validation_accuracy"] = judged->accuracy();
      line += text(", accuracy %.2f %%", judged->accuracy() * 100);
    }
  }
  entry["seconds"] = seconds;
  line += text("; %.1f s, %.0f samples/s", seconds,
               static_cast<double>(samples) / seconds);
  epochs.push_back(std::move(entry));
  clear();
  if (!options.common.json && tells)
    std::printf("%s\n", line.c_str());
  std::fflush(stdout);
  if (judged) {
    curve.addValidation(steps, judged->meanLoss());
    nlohmann::json judgement = {{"epoch", epoch + 1},
                                {"validation_loss", judged->meanLoss()}};
    if (!judged->losses.empty())
      judgement["validation_losses"] = numbersOf(judged->meanLosses());
    if (judged->hasLabels)
      judgement["accuracy"] = judged->accuracy();
    log(judgement);
  }
  draw();
}

nlohmann::json TrainingReport::asJson() const {
  return {{"epochs", epochs}, {"curve", curve.asJson()}};
}

void TrainingReport::restore(const nlohmann::json &json) {
  epochs = json.value("epochs", nlohmann::json::array());
  curve = LossCurve::of(json.value("curve", nlohmann::json::object()));
}

} // namespace sinter::driver
