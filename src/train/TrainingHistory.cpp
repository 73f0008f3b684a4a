#include "train/TrainingHistory.h"

#include <cmath>

namespace sinter {

void TrainingHistory::add(const DoneStep &step) {
  if (std::isfinite(step.loss))
    losses.add(step.loss);
}

void TrainingHistory::add(const DoneEpoch &epoch) {
  const Epoch &trained = epoch.trained;
  nlohmann::json entry = {{"epoch", epoch.number + 1},
                          {"loss", trained.meanLoss()}};
  if (!trained.losses.empty())
    entry["losses"] = lossesJson(trained.meanLosses());
  if (trained.hasLabels)
    entry["accuracy"] = trained.accuracy();
  if (epoch.judged) {
    entry["validation_loss"] = epoch.judged->meanLoss();
    if (!epoch.judged->losses.empty())
      entry["validation_losses"] = lossesJson(epoch.judged->meanLosses());
    if (epoch.judged->hasLabels)
      entry["validation_accuracy"] = epoch.judged->accuracy();
    losses.addValidation(epoch.steps, epoch.judged->meanLoss());
  }
  entry["seconds"] = epoch.seconds;
  done.push_back(std::move(entry));
}

nlohmann::json TrainingHistory::asJson() const {
  return {{"epochs", done}, {"curve", losses.asJson()}};
}

TrainingHistory TrainingHistory::of(const nlohmann::json &json) {
  TrainingHistory history;
  history.done = json.value("epochs", nlohmann::json::array());
  history.losses = LossCurve::of(json.value("curve", nlohmann::json::object()));
  return history;
}

} // namespace sinter
