//===- LossCurve.cpp - the losses of a training ---------------------------===//

#include "train/LossCurve.h"

#include <algorithm>
#include <cmath>

namespace sinter {

static constexpr size_t mostMeans = 512;

void LossCurve::add(double loss) {
  if (steps == width * mostMeans) {
    for (size_t i = 0; i < mostMeans / 2; ++i)
      sums[i] = sums[2 * i] + sums[2 * i + 1];
    sums.resize(mostMeans / 2);
    width *= 2;
  }
  if (steps % width == 0)
    sums.push_back(0);
  sums.back() += loss;
  ++steps;
}

void LossCurve::addValidation(uint64_t step, double loss) {
  if (std::isfinite(loss))
    validations.push_back({static_cast<double>(step), loss});
}

std::vector<LossCurve::Point> LossCurve::means() const {
  std::vector<Point> points;
  for (size_t i = 0; i < sums.size(); ++i) {
    const uint64_t first = i * width, last = std::min(first + width, steps);
    points.push_back({static_cast<double>(first + last + 1) / 2,
                      sums[i] / static_cast<double>(last - first)});
  }
  return points;
}

nlohmann::json LossCurve::asJson() const {
  nlohmann::json judged = nlohmann::json::array();
  for (const Point &point : validations)
    judged.push_back({point.step, point.loss});
  return {{"width", width},
          {"steps", steps},
          {"sums", sums},
          {"validations", judged}};
}

LossCurve LossCurve::of(const nlohmann::json &json) {
  LossCurve curve;
  if (!json.contains("sums") || !json["sums"].is_array())
    return curve;
  for (const nlohmann::json &each : json["sums"])
    curve.sums.push_back(each.is_number() ? each.get<double>() : 0);
  curve.width = std::max<uint64_t>(json.value("width", uint64_t(1)), 1);
  curve.steps = json.value("steps", uint64_t(0));
  // Inconsistent fields are not of add().
  if (curve.sums.size() > mostMeans ||
      (curve.steps + curve.width - 1) / curve.width != curve.sums.size())
    return {};
  for (const nlohmann::json &each : json.value("validations", json.array()))
    if (each.is_array() && each.size() == 2 && each[0].is_number() &&
        each[1].is_number())
      curve.validations.push_back({each[0], each[1]});
  return curve;
}

} // namespace sinter
