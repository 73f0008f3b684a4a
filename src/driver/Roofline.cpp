//===- Roofline.cpp - a roofline plot of layers ---------------------------===//

#include "driver/Roofline.h"

#include "driver/Text.h"

#include <algorithm>
#include <cmath>

namespace sinter::driver {

namespace {

/// The plot, in units of the SVG file.
constexpr double width = 960, height = 600;
/// The total area of all dots.
constexpr double dotArea = 12000;

struct Point {
  double x, y;
};

/// The style of operations of a type.
struct Look {
  ElementType type;
  std::string_view ceiling, color;
};
constexpr Look looks[] = {{ElementType::F32, "f32", "#1f6feb"},
                          {ElementType::F64, "f64", "#8250df"},
                          {ElementType::BF16, "bf16", "#1a7f37"},
                          {ElementType::I8, "i8", "#d4572a"}};

const Look &lookOf(ElementType type) {
  const auto *look = std::ranges::find(looks, type, &Look::type);
  return look == std::end(looks) ? looks[0] : *look;
}

/// A layer in the plot: operations per byte, 10^9 operations per second of one
/// thread.
struct Dot {
  const LayerTime *layer;
  double intensity, gops;
};

/// Logarithmic coordinates, for the range of the shown values.
class RooflinePlot {
public:
  static constexpr double left = 80, right = 940, top = 60, bottom = 540;

  RooflinePlot(const MachineCeilings &ceilings, std::span<const Dot> dots) {
    for (const Dot &dot : dots)
      include(dot.intensity, dot.gops);
    for (const ArithmeticCeiling &roof : ceilings.arithmetic) {
      include(1, roof.gops);
      // The ridge point of the lowest bandwidth is in the plot.
      for (const BandwidthCeiling &level : ceilings.bandwidth)
        if (level.gbPerSecond > 0)
          include(roof.gops / level.gbPerSecond, roof.gops);
    }
    lowX = std::floor(lowX - 0.2), highX = std::ceil(highX + 0.2);
    lowY = std::floor(lowY - 0.1), highY = std::ceil(highY + 0.1);
  }

  Point at(double intensity, double gops) const {
    return {
        left + (std::log10(intensity) - lowX) / (highX - lowX) * (right - left),
        bottom - (std::log10(gops) - lowY) / (highY - lowY) * (bottom - top)};
  }
  double leastX() const { return std::pow(10, lowX); }
  double mostX() const { return std::pow(10, highX); }
  double leastY() const { return std::pow(10, lowY); }

  /// Labelled lines at the powers of ten.
  std::string grid() const {
    std::string svg;
    for (double power = lowX; power <= highX; ++power) {
      const double x = at(std::pow(10, power), leastY()).x;
      svg += text("<line class=\"grid\" x1=\"%.1f\" y1=\"%.0f\" x2=\"%.1f\" "
                  "y2=\"%.0f\"/><text x=\"%.1f\" y=\"%.0f\" "
                  "text-anchor=\"middle\">%g</text>\n",
                  x, top, x, bottom, x, bottom + 18, std::pow(10, power));
    }
    for (double power = lowY; power <= highY; ++power) {
      const double y = at(leastX(), std::pow(10, power)).y;
      svg += text("<line class=\"grid\" x1=\"%.0f\" y1=\"%.1f\" x2=\"%.0f\" "
                  "y2=\"%.1f\"/><text x=\"%.0f\" y=\"%.1f\" "
                  "text-anchor=\"end\">%g</text>\n",
                  left, y, right, y, left - 8, y + 4, std::pow(10, power));
    }
    return svg;
  }

private:
  void include(double intensity, double gops) {
    lowX = std::min(lowX, std::log10(intensity));
    highX = std::max(highX, std::log10(intensity));
    lowY = std::min(lowY, std::log10(gops));
    highY = std::max(highY, std::log10(gops));
  }

  double lowX = 0, highX = 1, lowY = 1, highY = 2;
};

std::string roofs(const MachineCeilings &ceilings, const RooflinePlot &plot) {
  std::string svg;
  double greatest = 0;
  for (const ArithmeticCeiling &roof : ceilings.arithmetic) {
    greatest = std::max(greatest, roof.gops);
    const auto *look = std::ranges::find(looks, roof.name, &Look::ceiling);
    const std::string color(look == std::end(looks) ? "#57606a" : look->color);
    const Point from = plot.at(plot.leastX(), roof.gops),
                to = plot.at(plot.mostX(), roof.gops);
    svg += text("<line stroke=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
                "y2=\"%.1f\"/><text style=\"fill:%s\" x=\"%.1f\" y=\"%.1f\" "
                "text-anchor=\"end\">%s %.0f</text>\n",
                color.c_str(), from.x, from.y, to.x, to.y, color.c_str(),
                to.x - 4, to.y - 5, escaped(roof.name).c_str(), roof.gops);
  }
  for (const BandwidthCeiling &level : ceilings.bandwidth) {
    if (!(level.gbPerSecond > 0) || !(greatest > 0))
      continue;
    // From the lower or left edge up to the highest roof.
    const double begin =
        std::max(plot.leastX(), plot.leastY() / level.gbPerSecond);
    const double end = greatest / level.gbPerSecond;
    const Point from = plot.at(begin, begin * level.gbPerSecond),
                to = plot.at(end, greatest);
    svg += text("<line class=\"memory\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
                "y2=\"%.1f\"/><text x=\"%.1f\" y=\"%.1f\">%s %.0f "
                "GB/s</text>\n",
                from.x, from.y, to.x, to.y, from.x + 6, from.y - 4,
                escaped(level.level).c_str(), level.gbPerSecond);
  }
  return svg;
}

std::string dotsText(std::span<const Dot> dots, const RooflinePlot &plot) {
  double total = 0;
  for (const Dot &dot : dots)
    total += dot.layer->seconds;
  std::string svg;
  for (const Dot &dot : dots) {
    const Point place = plot.at(dot.intensity, dot.gops);
    const double share = dot.layer->seconds / total;
    const double radius = std::max(2.0, std::sqrt(share * dotArea / M_PI));
    svg +=
        text("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\">"
             "<title>%s\n%s%s%s\n%.4f ms (%.1f %%), %.1f Gop/s, %.2f "
             "operations a byte</title></circle>\n",
             place.x, place.y, radius,
             std::string(lookOf(dot.layer->arithmetic).color).c_str(),
             escaped(std::string(dot.layer->name)).c_str(),
             escaped(std::string(dot.layer->op)).c_str(),
             dot.layer->kernel.empty() ? "" : ", ",
             escaped(std::string(dot.layer->kernel)).c_str(),
             dot.layer->seconds * 1000, 100 * share, dot.gops, dot.intensity);
  }
  return svg;
}

constexpr const char *rooflineStyle = R"(<style>
text { font: 12px system-ui, sans-serif; fill: #57606a; }
.title { font-size: 15px; fill: #1b1f24; }
.grid { stroke: #e2e5e9; }
.memory { stroke: #9aa4ae; stroke-dasharray: 5 3; }
circle { fill-opacity: .55; stroke: #fff; stroke-width: .7; }
</style>
)";

} // namespace

std::string rooflineSvg(const std::string &title,
                        const MachineCeilings &ceilings,
                        std::span<const LayerTime> layers) {
  std::vector<Dot> dots;
  size_t leftOut = 0;
  for (const LayerTime &layer : layers) {
    const double perThread =
        layer.flops / layer.seconds / 1e9 / std::max(1u, layer.threads);
    if (layer.flops > 0 && layer.bytes > 0 && layer.seconds > 0)
      dots.push_back({&layer, layer.flops / layer.bytes, perThread});
    else
      ++leftOut;
  }
  // Small dots are drawn over large ones.
  std::ranges::sort(dots, [](const Dot &a, const Dot &b) {
    return a.layer->seconds > b.layer->seconds;
  });
  const RooflinePlot plot(ceilings, dots);
  return text("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f "
              "%.0f\" width=\"%.0f\" height=\"%.0f\">\n",
              width, height, width, height) +
         rooflineStyle +
         text("<rect width=\"%.0f\" height=\"%.0f\" fill=\"#fff\"/>\n", width,
              height) +
         text(
             "<text class=\"title\" x=\"%.0f\" y=\"28\">%s</text>\n"
             "<text x=\"%.0f\" y=\"46\">10^9 operations a second, each "
             "thread; fastest runs; area: share of the time; %zu "
             "layers%s</text>\n",
             plot.left, escaped(title).c_str(), plot.left, dots.size(),
             leftOut == 0
                 ? ""
                 : text(", %zu without arithmetic left out", leftOut).c_str()) +
         plot.grid() + roofs(ceilings, plot) + dotsText(dots, plot) +
         text("<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\">operations "
              "for each byte of operands and results</text>\n</svg>\n",
              (plot.left + plot.right) / 2, plot.bottom + 40);
}

} // namespace sinter::driver
