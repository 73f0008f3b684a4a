//===- LossCurve.cpp - the losses of a training as a picture --------------===//

#include "driver/LossCurve.h"

#include "driver/Text.h"

#include <algorithm>
#include <cmath>

namespace sinter::driver {

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
  // What does not fit together is no curve that add() made.
  if (curve.sums.size() > mostMeans ||
      (curve.steps + curve.width - 1) / curve.width != curve.sums.size())
    return {};
  for (const nlohmann::json &each : json.value("validations", json.array()))
    if (each.is_array() && each.size() == 2 && each[0].is_number() &&
        each[1].is_number())
      curve.validations.push_back({each[0], each[1]});
  return curve;
}

namespace {

constexpr double wholeWidth = 800, wholeHeight = 420, left = 70, right = 780,
                 top = 60, bottom = 370;

/// A number of 1, 2 or 5 times a power of ten that cuts \p range into about
/// five parts.
double tickOf(double range) {
  const double power = std::pow(10, std::floor(std::log10(range / 5)));
  for (double factor : {1, 2, 5})
    if (range / (power * factor) <= 6)
      return power * factor;
  return power * 10;
}

/// From steps and losses to places in the picture.
struct Field {
  double lastStep, low, high;

  double x(double step) const {
    return left + (right - left) * step / lastStep;
  }
  double y(double loss) const {
    return bottom - (bottom - top) * (loss - low) / (high - low);
  }
  std::string grid() const;
};

std::string Field::grid() const {
  std::string svg;
  const double rows = tickOf(high - low);
  for (double at = std::ceil(low / rows) * rows; at <= high; at += rows)
    svg += text("<line class=\"grid\" x1=\"%.0f\" y1=\"%.1f\" x2=\"%.0f\" "
                "y2=\"%.1f\"/>\n<text x=\"%.0f\" y=\"%.1f\" "
                "text-anchor=\"end\">%g</text>\n",
                left, y(at), right, y(at), left - 8, y(at) + 4,
                std::abs(at) < rows / 2 ? 0 : at);
  const double columns = std::max(1.0, tickOf(lastStep));
  for (double at = 0; at <= lastStep; at += columns)
    svg += text("<line class=\"grid\" x1=\"%.1f\" y1=\"%.0f\" x2=\"%.1f\" "
                "y2=\"%.0f\"/>\n<text x=\"%.1f\" y=\"%.0f\" "
                "text-anchor=\"middle\">%.0f</text>\n",
                x(at), top, x(at), bottom, x(at), bottom + 18, at);
  return svg;
}

constexpr const char *style = R"(<style>
text { font: 12px system-ui, sans-serif; fill: #57606a; }
.title { font-size: 15px; fill: #1b1f24; }
.grid { stroke: #e2e5e9; }
polyline { fill: none; stroke: #2f6fb7; stroke-width: 1.6; }
circle { fill: #d1622b; }
.validation { stroke: #d1622b; stroke-dasharray: 4 3; }
</style>
)";

} // namespace

std::string LossCurve::svg(const std::string &title) const {
  const std::vector<Point> points = means();
  Field field{std::max<double>(1, static_cast<double>(steps)), 0, 0};
  for (const auto *list : {&points, &validations})
    for (const Point &point : *list) {
      field.low = std::min(field.low, point.loss);
      field.high = std::max(field.high, point.loss);
    }
  if (!(field.high > field.low))
    field.high = field.low + 1;
  auto places = [&](const std::vector<Point> &list) {
    std::string line;
    for (const Point &point : list)
      line += text("%.2f,%.2f ", field.x(point.step), field.y(point.loss));
    return line;
  };
  std::string svg =
      text("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f "
           "%.0f\" width=\"%.0f\" height=\"%.0f\">\n",
           wholeWidth, wholeHeight, wholeWidth, wholeHeight) +
      style +
      text("<rect width=\"%.0f\" height=\"%.0f\" fill=\"#fff\"/>\n", wholeWidth,
           wholeHeight) +
      text("<text class=\"title\" x=\"%.0f\" y=\"26\">%s</text>\n<text "
           "x=\"%.0f\" y=\"46\">loss over steps: line: training%s; points: "
           "validation</text>\n",
           left, escaped(title).c_str(), left,
           width == 1 ? ""
                      : text(" (means of %llu)",
                             static_cast<unsigned long long>(width))
                            .c_str()) +
      field.grid() + "<polyline points=\"" + places(points) + "\"/>\n";
  if (validations.size() > 1)
    svg += "<polyline class=\"validation\" points=\"" + places(validations) +
           "\"/>\n";
  for (const Point &point : validations)
    svg +=
        text("<circle cx=\"%.2f\" cy=\"%.2f\" r=\"3.5\"><title>step %.0f: "
             "%.6g</title></circle>\n",
             field.x(point.step), field.y(point.loss), point.step, point.loss);
  return svg + "</svg>\n";
}

} // namespace sinter::driver
