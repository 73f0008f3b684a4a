//===- QuantizePage.cpp - the report of a quantisation as a page ----------===//

#include "driver/QuantizePage.h"

#include "driver/Text.h"
#include "interface/QuantizeSummary.h"

#include <algorithm>
#include <cmath>

namespace sinter::driver {

namespace {

constexpr const char *pageStyle = R"(
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --line: #e2e5e9; --soft: #f3f5f7; --mark: #2f6fde; --bad: #d1242f; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --paper: #14171a; --line: #333a41; --soft: #1e2328; --mark: #6ea0ff; --bad: #ff7b72; } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; color: var(--ink); background: var(--paper); }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
tr.float td { opacity: .65; }
figure { display: inline-block; margin: .5rem 1rem .5rem 0; }
figcaption { font-size: 12px; }
svg { background: var(--soft); border-radius: 6px; }
svg .bar { fill: var(--mark); } svg .edge { stroke: var(--bad); }
)";

std::string decibels(const std::optional<double> &number) {
  if (!number)
    return "";
  return std::isfinite(*number) ? text("%.1f", *number) : "exact";
}

std::string percent(const std::optional<double> &part) {
  return part ? text("%.2f %%", *part * 100) : "-";
}

std::string row(const std::string &what, const std::string &before,
                const std::string &after) {
  return "<tr><th>" + what + "</th><td class=\"number\">" + before +
         "</td><td class=\"number\">" + after + "</td></tr>\n";
}

std::string figures(const QuantizeReport &report) {
  const auto megabytes = [](int64_t bytes) {
    return bytes ? text("%.2f MB", static_cast<double>(bytes) * 1e-6)
                 : std::string("-");
  };
  const auto time = [](double milliseconds) {
    return milliseconds > 0 ? text("%.3f ms", milliseconds) : std::string("-");
  };
  std::string all = "<table><tr><th></th><th class=\"number\">float</th><th "
                    "class=\"number\">quantised</th></tr>\n";
  all += row("size of the file", megabytes(report.before.bytes),
             megabytes(report.after.bytes));
  all += row("time of a run", time(report.before.milliseconds),
             time(report.after.milliseconds));
  all += row("accuracy", percent(report.before.accuracy),
             percent(report.after.accuracy));
  all += row("accuracy that other inputs lose, at most (90 % confidence)", "",
             percent(report.accuracyLossOfOthers));
  all += row("same most probable class", "", percent(report.agreement));
  all += row("cosine of the outputs", "",
             report.cosine ? text("%.6f", *report.cosine) : "-");
  all +=
      row("signal to noise of the outputs, dB", "", decibels(report.decibels));
  all += row("the same of other inputs, at least (90 % confidence)", "",
             decibels(report.decibelsOfOthers));
  all += row("rescales: with a scale for each tensor, and in the model",
             std::to_string(report.rescalesBefore),
             std::to_string(report.rescalesAfter));
  return all + "</table>\n";
}

std::string table(const std::vector<QuantizedLayer> &layers) {
  std::string all =
      "<table><tr><th>layer</th><th>operation</th><th>computes with</th><th "
      "class=\"number\">signal to noise, dB</th><th>range</th><th "
      "class=\"number\">seen</th><th class=\"number\">ms, float</th><th "
      "class=\"number\">ms</th></tr>\n";
  for (const QuantizedLayer &layer : layers) {
    all += std::string("<tr") + (layer.keptFloat ? " class=\"float\"" : "") +
           "><td>" + escaped(layer.name) + "</td><td>" + escaped(layer.op) +
           "</td><td>" +
           (layer.keptFloat
                ? "float: " + escaped(layer.reason + "; " + layer.remedy)
                : escaped(layer.scheme)) +
           "</td><td class=\"number\">" + decibels(layer.decibels) +
           "</td><td>";
    if (!layer.rangeMethod.empty())
      all += text("%.4g to %.4g (%s)", layer.least, layer.greatest,
                  layer.rangeMethod.c_str());
    all += "</td><td class=\"number\">";
    if (!layer.histogram.empty())
      all += text("%.4g to %.4g", layer.seenLeast, layer.seenGreatest);
    all += "</td>";
    for (const double time : {layer.floatMilliseconds, layer.milliseconds})
      all += "<td class=\"number\">" +
             (time > 0 ? text("%.4f", time) : std::string()) + "</td>";
    all += "</tr>\n";
  }
  return all + "</table>\n";
}

/// What stays float, by reason.
std::string groups(const QuantizeSummary &summary) {
  if (summary.stayFloat.empty())
    return "";
  std::string all = "<h2>What stays float</h2>\n<table><tr><th "
                    "class=\"number\">operations</th><th>reason</th><th>would "
                    "help</th></tr>\n";
  for (const QuantizeSummary::Group &group : summary.stayFloat)
    all += text("<tr><td class=\"number\">%zu</td><td>", group.count) +
           escaped(group.reason) + "</td><td>" + escaped(group.remedy) +
           "</td></tr>\n";
  return all + "</table>\n";
}

/// A histogram with logarithmic counts, and the range of the integers.
std::string histogram(const QuantizedLayer &layer) {
  constexpr size_t columns = 128;
  constexpr double width = 320, height = 120;
  std::vector<double> bars(columns);
  for (size_t bin = 0; bin < layer.histogram.size(); ++bin)
    bars[bin * columns / layer.histogram.size()] +=
        static_cast<double>(layer.histogram[bin]);
  const double most = std::log1p(*std::ranges::max_element(bars));
  std::string svg = text("<figure><svg width=\"%.0f\" height=\"%.0f\" "
                         "role=\"img\" aria-label=\"histogram\">\n",
                         width, height);
  const double step = width / columns;
  for (size_t i = 0; i < columns; ++i) {
    const double tall = most > 0 ? std::log1p(bars[i]) / most * height : 0;
    svg += text("<rect class=\"bar\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" "
                "height=\"%.1f\"/>\n",
                static_cast<double>(i) * step, height - tall, step, tall);
  }
  for (const double edge : {layer.least, layer.greatest}) {
    const double at = (edge - layer.seenLeast) /
                      (layer.seenGreatest - layer.seenLeast) * width;
    svg += text("<line class=\"edge\" x1=\"%.1f\" x2=\"%.1f\" y1=\"0\" "
                "y2=\"%.0f\"/>\n",
                std::clamp(at, 0.5, width - 0.5),
                std::clamp(at, 0.5, width - 0.5), height);
  }
  return svg + "</svg><figcaption>" + escaped(layer.name) +
         text("<br>%s dB, %s</figcaption></figure>\n",
              decibels(layer.decibels).c_str(), layer.rangeMethod.c_str());
}

std::string worst(const std::vector<QuantizedLayer> &layers) {
  constexpr size_t most = 12;
  std::vector<const QuantizedLayer *> order;
  for (const QuantizedLayer &layer : layers)
    if (layer.decibels && std::isfinite(*layer.decibels) &&
        !layer.histogram.empty() && !layer.rangeMethod.empty())
      order.push_back(&layer);
  std::ranges::sort(
      order, [](const QuantizedLayer *a, const QuantizedLayer *b) {
        return std::pair(*a->decibels, a) < std::pair(*b->decibels, b);
      });
  if (order.empty())
    return "";
  std::string all =
      "<h2>Results of the worst layers</h2>\n<p>A histogram of the values "
      "(with "
      "logarithmic counts), and the range that integers cover.</p>\n";
  for (size_t i = 0; i < std::min(most, order.size()); ++i)
    all += histogram(*order[i]);
  return all;
}

} // namespace

std::string quantizePage(const std::string &model,
                         const QuantizeReport &report) {
  const QuantizeSummary summary = QuantizeSummary::of(report);
  return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
         "<meta name=\"viewport\" content=\"width=device-width\"><title>" +
         escaped(model) + ", quantised</title><style>" + pageStyle +
         "</style></head><body>\n<h1>" + escaped(model) + ", quantised</h1>\n" +
         "<p>" + escaped(summary.text(/*isWeightsOnly=*/report.isWeightsOnly)) +
         ". " + escaped(report.method) + "; " + escaped(samplesText(report)) +
         ".</p>\n" + figures(report) + groups(summary) + worst(report.layers) +
         "<h2>Layers</h2>\n" + table(report.layers) + "</body></html>\n";
}

} // namespace sinter::driver
