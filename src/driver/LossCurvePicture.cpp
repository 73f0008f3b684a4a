#include "driver/LossCurvePicture.h"

#include "driver/Text.h"

#include <algorithm>
#include <cmath>

namespace sinter::driver {

namespace {

constexpr double wholeWidth = 800, wholeHeight = 420;

/// The multiple 1, 2 or 5 of a power of ten that divides \p range into about
/// five.
double tickOf(double range) {
  const double power = std::pow(10, std::floor(std::log10(range / 5)));
  for (double factor : {1, 2, 5})
    if (range / (power * factor) <= 6)
      return power * factor;
  return power * 10;
}

/// From steps and losses to coordinates in the plot.
struct LossPlot {
  static constexpr double left = 70, right = 780, top = 60, bottom = 370;

  double lastStep, low, high;

  double x(double step) const {
    return left + (right - left) * step / lastStep;
  }
  double y(double loss) const {
    return bottom - (bottom - top) * (loss - low) / (high - low);
  }
  std::string grid() const;
};

std::string LossPlot::grid() const {
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

constexpr const char *lossCurveStyle = R"(<style>
text { font: 12px system-ui, sans-serif; fill: #57606a; }
.title { font-size: 15px; fill: #1b1f24; }
.grid { stroke: #e2e5e9; }
polyline { fill: none; stroke: #2f6fb7; stroke-width: 1.6; }
circle { fill: #d1622b; }
.validation { stroke: #d1622b; stroke-dasharray: 4 3; }
</style>
)";

} // namespace

std::string lossCurveSvg(const LossCurve &curve, const std::string &title) {
  using Point = LossCurve::Point;
  const std::vector<Point> points = curve.means();
  const std::vector<Point> &validations = curve.validationPoints();
  LossPlot plot{std::max<double>(1, static_cast<double>(curve.stepCount())), 0,
                0};
  for (const auto *list : {&points, &validations})
    for (const Point &point : *list) {
      plot.low = std::min(plot.low, point.loss);
      plot.high = std::max(plot.high, point.loss);
    }
  if (!(plot.high > plot.low))
    plot.high = plot.low + 1;
  auto places = [&](const std::vector<Point> &list) {
    std::string line;
    for (const Point &point : list)
      line += text("%.2f,%.2f ", plot.x(point.step), plot.y(point.loss));
    return line;
  };
  std::string svg =
      text("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f "
           "%.0f\" width=\"%.0f\" height=\"%.0f\">\n",
           wholeWidth, wholeHeight, wholeWidth, wholeHeight) +
      lossCurveStyle +
      text("<rect width=\"%.0f\" height=\"%.0f\" fill=\"#fff\"/>\n", wholeWidth,
           wholeHeight) +
      text("<text class=\"title\" x=\"%.0f\" y=\"26\">%s</text>\n<text "
           "x=\"%.0f\" y=\"46\">loss over steps: line: training%s; points: "
           "validation</text>\n",
           LossPlot::left, escaped(title).c_str(), LossPlot::left,
           curve.meanWidth() == 1
               ? ""
               : text(" (means of %llu)",
                      static_cast<unsigned long long>(curve.meanWidth()))
                     .c_str()) +
      plot.grid() + "<polyline points=\"" + places(points) + "\"/>\n";
  if (validations.size() > 1)
    svg += "<polyline class=\"validation\" points=\"" + places(validations) +
           "\"/>\n";
  for (const Point &point : validations)
    svg += text("<circle cx=\"%.2f\" cy=\"%.2f\" r=\"3.5\"><title>step %.0f: "
                "%.6g</title></circle>\n",
                plot.x(point.step), plot.y(point.loss), point.step, point.loss);
  return svg + "</svg>\n";
}

} // namespace sinter::driver
