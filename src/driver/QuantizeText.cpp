//===- QuantizeText.cpp - what sinter quantize prints ---------------------===//

#include "driver/QuantizeText.h"

#include "driver/Text.h"
#include "interface/QuantizeSummary.h"
#include "runtime/Result.h"

#include <cmath>
#include <cstdio>

namespace sinter::driver {

std::string decibelText(const std::optional<double> &decibels) {
  if (!decibels)
    return "-";
  return std::isfinite(*decibels) ? text("%.1f dB", *decibels) : "exact";
}

/// Which layers compute with integers, and why others do not.
static void printSummary(const QuantizeReport &report) {
  const QuantizeSummary summary = QuantizeSummary::of(report);
  printTo(stdout, "%s\n", oneLine(summary.text(report.isWeightsOnly)).c_str());
  size_t floats = 0;
  for (const QuantizeSummary::Group &group : summary.stayFloat)
    floats += group.count;
  if (floats)
    printTo(stdout, "%zu operation%s float:\n", floats,
            floats == 1 ? " stays" : "s stay");
  for (const QuantizeSummary::Group &group : summary.stayFloat)
    printTo(stdout, "%s\n", oneLine(QuantizeSummary::text(group)).c_str());
}

/// How far the outputs are from those of the float model.
static void printAgreement(const QuantizeReport &report, bool hasBound) {
  if (report.judged) {
    printTo(stdout, "signal to noise of the outputs %s",
            decibelText(report.decibels).c_str());
    if (hasBound && report.decibelsOfOthers && !report.before.accuracy)
      printTo(stdout, " (of other inputs at least %s, with 90 %% confidence)",
              decibelText(report.decibelsOfOthers).c_str());
    if (report.cosine)
      printTo(stdout, ", cosine %.5f", *report.cosine);
    if (report.agreement)
      printTo(stdout, ", same most probable class %.2f %%",
              *report.agreement * 100);
    printTo(stdout, "\n");
  }
  for (const QuantizeReport::AtSizes &each : report.sizes)
    printTo(stdout, "  %s at %s\n", decibelText(each.decibels).c_str(),
            each.sizes.text().c_str());
  if (!report.staticBecause.empty())
    printNote("samples were compared by programs for their own sizes: " +
              report.staticBecause);
  if (!report.after.accuracy)
    return;
  printTo(stdout, "accuracy %.2f %% -> %.2f %%", *report.before.accuracy * 100,
          *report.after.accuracy * 100);
  if (hasBound)
    printTo(stdout,
            " (of other inputs at most %.2f points less, with 90 %% "
            "confidence)",
            *report.accuracyLossOfOthers * 100);
  printTo(stdout, "\n");
}

static void printLayers(const std::vector<QuantizedLayer> &layers) {
  for (const QuantizedLayer &layer : layers) {
    const std::string how = layer.keptFloat
                                ? "float: " + layer.reason + "; " + layer.remedy
                                : layer.scheme;
    printTo(stdout, "%-40s %-16s %8s  %s\n", oneLine(layer.name).c_str(),
            layer.op.c_str(), decibelText(layer.decibels).c_str(), how.c_str());
  }
}

void printQuantized(const QuantizeReport &report,
                    const QuantizeTextOptions &options) {
  printSummary(report);
  printTo(stdout, "%s; %s\n", report.method.c_str(),
          oneLine(samplesText(report)).c_str());
  printAgreement(report, options.hasBound);
  if (report.after.bytes)
    printTo(stdout, "%.2f MB -> %.2f MB\n",
            static_cast<double>(report.before.bytes) * 1e-6,
            static_cast<double>(report.after.bytes) * 1e-6);
  if (report.judged && report.after.milliseconds > 0)
    printTo(stdout, "%.3f ms -> %.3f ms a run\n", report.before.milliseconds,
            report.after.milliseconds);
  if (options.withLayers)
    printLayers(report.layers);
}

} // namespace sinter::driver
