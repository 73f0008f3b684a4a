#include "train/Epoch.h"

#include <cmath>

namespace sinter {

void Epoch::add(const BatchOutcome &batch) {
  loss += batch.loss * batch.count;
  count += batch.count;
  hasLabels |= batch.right.has_value();
  right += batch.right.value_or(0);
  labelCount += batch.labels;
  losses.resize(batch.losses.size());
  for (size_t i = 0; i < losses.size(); ++i)
    losses[i] += batch.losses[i] * batch.count;
}

std::vector<double> Epoch::meanLosses() const {
  std::vector<double> means = losses;
  for (double &each : means)
    each = count == 0 ? 0 : each / count;
  return means;
}

nlohmann::json Epoch::asJson() const {
  return {{"loss", loss},        {"right", right},
          {"count", count},      {"label count", labelCount},
          {"labels", hasLabels}, {"losses", losses}};
}

Epoch Epoch::of(const nlohmann::json &json) {
  return {
      json.value("loss", 0.0),     json.value("right", 0.0),
      json.value("count", 0.0),    json.value("label count", 0.0),
      json.value("labels", false), json.value("losses", std::vector<double>())};
}

nlohmann::json lossJson(double loss) {
  return std::isfinite(loss) ? nlohmann::json(loss) : nlohmann::json();
}

nlohmann::json lossesJson(const std::vector<double> &losses) {
  nlohmann::json all = nlohmann::json::array();
  for (double each : losses)
    all.push_back(lossJson(each));
  return all;
}

} // namespace sinter
