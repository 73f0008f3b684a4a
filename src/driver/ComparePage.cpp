//===- ComparePage.cpp - how two models differ, to look at ----------------===//

#include "driver/CompareText.h"
#include "driver/Text.h"
#include "runtime/TensorText.h"

#include <algorithm>
#include <cmath>

namespace sinter::driver {

namespace {

constexpr const char *comparePageStyle = R"(
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: #1b1f24; background: #fff; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
.verdict { padding: .6rem 1rem; border-radius: 6px; background: #e6f4ea; }
.verdict.differs { background: #fdecea; }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid #e2e5e9; vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
tr.differs td { background: #fdecea; }
code { font-size: 12px; }
svg { width: 100%; height: auto; background: #f7f8fa; border-radius: 6px; }
)";

/// The range of powers of ten in the plot of differences.
constexpr double lowest = -10, highest = 1;

/// The height of a difference in the plot, from 0 to 1.
double heightOf(const ComparedTensor &tensor) {
  if (!tensor.problem.empty())
    return 1;
  const double part = tensor.difference.ofRange();
  if (part == 0)
    return 0;
  const double power = std::isfinite(part) ? std::log10(part) : highest;
  return (std::clamp(power, lowest, highest) - lowest) / (highest - lowest);
}

/// The difference of each tensor, in network order; for many tensors the
/// largest per column.
std::string chart(const std::vector<ComparedTensor> &tensors) {
  constexpr size_t mostColumns = 600;
  constexpr double width = 1000, height = 240;
  const size_t columns = std::min(mostColumns, tensors.size());
  const double step = width / static_cast<double>(columns);
  std::string svg = text("<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" "
                         "aria-label=\"difference along the network\">\n",
                         width, height + 20);
  for (int power = static_cast<int>(lowest); power <= highest; power += 2) {
    const double y = height * (1 - (power - lowest) / (highest - lowest));
    svg += text("<line x1=\"0\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\" "
                "stroke=\"#d5d9de\"/><text x=\"2\" y=\"%.1f\" "
                "font-size=\"10\" fill=\"#6a737d\">1e%d</text>\n",
                width, y, y, y - 2, power);
  }
  for (size_t column = 0; column < columns; ++column) {
    const size_t begin = column * tensors.size() / columns,
                 end = (column + 1) * tensors.size() / columns;
    const auto tallest =
        std::max_element(tensors.begin() + static_cast<int64_t>(begin),
                         tensors.begin() + static_cast<int64_t>(end),
                         [](const ComparedTensor &a, const ComparedTensor &b) {
                           return heightOf(a) < heightOf(b);
                         });
    const bool differs =
        std::any_of(tensors.begin() + static_cast<int64_t>(begin),
                    tensors.begin() + static_cast<int64_t>(end),
                    [](const ComparedTensor &each) { return each.differs(); });
    const double tall = std::max(1.0, height * heightOf(*tallest));
    svg +=
        text("<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" "
             "fill=\"%s\"><title>",
             static_cast<double>(column) * step, height - tall,
             std::max(0.5, step * 0.9), tall, differs ? "#d1242f" : "#8fa8c0");
    svg += escaped(titleOf(*tallest)) +
           text(": %.3g of its range</title></rect>\n",
                tallest->difference.ofRange());
  }
  return svg + "</svg>\n";
}

std::string furthestText(const ComparedTensor &tensor) {
  if (!tensor.problem.empty())
    return escaped(tensor.problem);
  if (tensor.furthest.empty())
    return "";
  std::string all = "<details><summary><code>" +
                    escaped(tensor.furthest.front().place) +
                    "</code></summary><table><tr><th>element</th><th>first</th>"
                    "<th>second</th></tr>";
  for (const ComparedTensor::Element &element : tensor.furthest)
    all += "<tr><td><code>" + escaped(element.place) + "</code></td><td>" +
           escaped(element.expected) + "</td><td>" + escaped(element.got) +
           "</td></tr>";
  return all + "</table></details>";
}

std::string table(const std::vector<ComparedTensor> &tensors) {
  std::string all =
      "<table><tr><th>tensor</th><th>type</th><th>matched by</th><th "
      "class=\"number\">difference</th><th class=\"number\">of range</th><th "
      "class=\"number\">SQNR</th><th class=\"number\">cosine</th><th "
      "class=\"number\">wrong</th><th>furthest elements</th></tr>\n";
  for (const ComparedTensor &tensor : tensors) {
    const Difference &found = tensor.difference;
    std::string type = tensor.type;
    if (tensor.otherType != tensor.type)
      type += " / " + tensor.otherType;
    all += std::string("<tr") + (tensor.differs() ? " class=\"differs\"" : "") +
           "><td>" + escaped(titleOf(tensor)) + "</td><td><code>" +
           escaped(type) + "</code></td><td>" + textOf(tensor.by) + "</td>";
    if (tensor.isCompared && tensor.problem.empty())
      all +=
          text("<td class=\"number\">%.3g</td><td "
               "class=\"number\">%.3g</td><td class=\"number\">%s</td><td "
               "class=\"number\">%.5f</td><td class=\"number\">%lld of "
               "%lld</td>",
               found.largest, found.ofRange(),
               decibelsText(tensor.similarity).c_str(),
               tensor.similarity.cosine(), static_cast<long long>(found.wrong),
               static_cast<long long>(tensor.elements));
    else
      all += std::string("<td colspan=\"5\">") +
             (tensor.isCompared ? "" : "not computed in this run") + "</td>";
    all += "<td>" + furthestText(tensor) + "</td></tr>\n";
  }
  return all + "</table>\n";
}

/// The weights that differ.
std::string weightTable(const std::vector<ComparedWeight> &weights) {
  if (weights.empty())
    return "";
  std::string all = "<h2>Weights that differ</h2>\n<table><tr><th>weight</th>"
                    "<th>difference</th><th>compared</th></tr>\n";
  for (const ComparedWeight &weight : weights)
    all += "<tr class=\"differs\"><td>" + escaped(titleOf(weight)) +
           "</td><td>" + escaped(differenceText(weight.values)) + "</td><td>" +
           (weight.isFolded ? "with what is folded into it" : "as stored") +
           "</td></tr>\n";
  return all + "</table>\n";
}

std::string verdict(const CompareReport &report) {
  const ComparedTensor *differing = report.firstDiffering();
  std::string all = std::string("<p class=\"verdict") +
                    (differing ? " differs" : "") + "\">" +
                    escaped(report.verdict()) + ".";
  if (!differing)
    return all + "</p>\n";
  all += " The first tensor that differs is <strong>" +
         escaped(titleOf(*differing)) +
         "</strong>: " + escaped(differenceText(*differing)) + ".";
  if (!report.pass.empty())
    all += " They differ after pass <strong>" + escaped(report.pass) +
           "</strong>.";
  if (report.step)
    all += text(" Rewrite %llu of %llu makes the difference: pattern <strong>",
                static_cast<unsigned long long>(report.step->step),
                static_cast<unsigned long long>(report.step->steps)) +
           escaped(report.step->label) + "</strong> of pass " +
           escaped(report.step->pass) +
           (report.step->op.empty() ? "" : ", on " + escaped(report.step->op)) +
           (report.step->location.empty()
                ? ""
                : " at " + escaped(report.step->location)) +
           ".";
  return all + "</p>\n";
}

} // namespace

std::string reportPage(const CompareReport &report) {
  std::string page =
      std::string("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta "
                  "charset=\"utf-8\">\n<meta name=\"viewport\" "
                  "content=\"width=device-width\">\n<title>sinter "
                  "compare</title>\n<style>") +
      comparePageStyle +
      "</style>\n</head>\n<body>\n<h1>sinter compare</h1>\n<p>First: <code>" +
      escaped(report.first) + "</code><br>Second: <code>" +
      escaped(report.second) + "</code><br>" + "Values agree with " +
      escaped(report.criteria.text()) + ".</p>\n" + verdict(report);
  for (const ComparedSizes &each : report.sizes)
    page += std::string("<p>Outputs ") + (each.agree ? "agree" : "differ") +
            " at " + escaped(sizesText(each)) + ".</p>\n";
  for (const std::string &note : report.notes)
    page += "<p>Note: " + escaped(note) + "</p>\n";
  page += weightTable(report.weights);
  page += "<h2>Outputs</h2>\n" + table(report.outputs);
  if (!report.tensors.empty())
    page += "<h2>Difference along the network, relative to each tensor's "
            "range</h2>\n" +
            chart(report.tensors) + "<h2>Intermediate tensors</h2>\n" +
            table(report.tensors);
  return page + "</body>\n</html>\n";
}

} // namespace sinter::driver
