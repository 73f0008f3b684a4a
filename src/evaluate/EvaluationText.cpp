//===- EvaluationText.cpp - the report of an evaluation -------------------===//

#include "evaluate/EvaluationText.h"

#include "runtime/Text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

namespace sinter {

std::string metricValueText(const MetricName &name, double value) {
  if (std::isnan(value))
    return "-";
  return name.isPart() ? text("%.2f %%", value * 100) : text("%.6g", value);
}

/// "88.40 .. 94.13", in the unit of the value.
static std::string intervalText(const MetricName &name,
                                const Interval &interval) {
  return name.isPart()
             ? text("%.2f .. %.2f", interval.low * 100, interval.high * 100)
             : text("%.6g .. %.6g", interval.low, interval.high);
}

static std::string labelText(const EvaluationReport &report, int64_t label) {
  const bool isNamed = label >= 0 &&
                       static_cast<size_t>(label) < report.labels.size() &&
                       !report.labels[label].empty();
  return isNamed ? report.labels[label] : "class " + std::to_string(label);
}

static std::string metricText(const EvaluationReport &report,
                              const EvaluatedMetric &metric, bool perClass) {
  const MetricName &name = metric.name;
  std::string line = text("%-16s %s", name.text().c_str(),
                          metricValueText(name, metric.estimate.value).c_str());
  if (metric.estimate.interval)
    line += "  (95 %: " + intervalText(name, *metric.estimate.interval) + ", " +
            std::string(metric.estimate.method) + ")";
  if (metric.atHalf)
    line += "  at an overlap of 0.5: " + metricValueText(name, *metric.atHalf);
  if (metric.areProbabilities)
    line += *metric.areProbabilities ? "  of probabilities" : "  of logits";
  line += "\n";
  for (const auto &[label, value] : metric.classes)
    if (perClass)
      line += text("  %-16s %s\n", labelText(report, label).c_str(),
                   metricValueText(name, value).c_str());
  return line;
}

static std::string differenceText(const MetricName &name,
                                  const PairedDifference &difference) {
  const std::string value = name.isPart()
                                ? text("%+.2f points", difference.value * 100)
                                : text("%+.6g", difference.value);
  std::string line = text("%-16s %s", name.text().c_str(),
                          std::isnan(difference.value) ? "-" : value.c_str());
  if (difference.interval)
    line += "  (95 %: " + intervalText(name, *difference.interval) + ", " +
            std::string(difference.method) + ")";
  if (difference.answers)
    line +=
        text("  right in one only: %llu, %llu; p = %.3g",
             static_cast<unsigned long long>(difference.answers->onlyFirst),
             static_cast<unsigned long long>(difference.answers->onlySecond),
             difference.answers->probability);
  return line + "\n";
}

static std::string timeText(const EvaluatedSide &side, size_t samples) {
  return text("%.3f ms a sample, in %llu runs",
              side.seconds * 1e3 / static_cast<double>(samples),
              static_cast<unsigned long long>(side.runs));
}

std::string evaluationText(const EvaluationReport &report, bool perClass) {
  std::string all =
      text("%zu samples in %.2f s, %.1f a second; %s\n", report.samples,
           report.seconds, static_cast<double>(report.samples) / report.seconds,
           timeText(report.model, report.samples).c_str());
  for (const EvaluatedMetric &metric : report.model.metrics)
    all += metricText(report, metric, perClass);
  if (!report.against)
    return all;
  all += report.against->model + ": " +
         timeText(*report.against, report.samples) + "\n";
  for (const EvaluatedMetric &metric : report.against->metrics)
    all += metricText(report, metric, perClass);
  all += "the difference from it\n";
  for (size_t i = 0; i < report.differences.size(); ++i)
    all += differenceText(report.model.metrics[i].name, report.differences[i]);
  if (report.agreement) {
    all += text("same class       %.2f %%", report.agreement->value * 100);
    if (report.agreement->interval)
      all += text("  (95 %%: %.2f .. %.2f, %s)",
                  report.agreement->interval->low * 100,
                  report.agreement->interval->high * 100,
                  std::string(report.agreement->method).c_str());
    all += "\n";
  }
  return all;
}

using EvaluationJson = nlohmann::json;

static EvaluationJson finite(double value) {
  return std::isfinite(value) ? EvaluationJson(value) : EvaluationJson();
}

/// {"value", "interval", "confidence", "method"}
static EvaluationJson estimateJson(const Estimate &estimate) {
  EvaluationJson json = {{"value", finite(estimate.value)},
                         {"interval", nullptr}};
  if (!estimate.interval)
    return json;
  json["interval"] = {finite(estimate.interval->low),
                      finite(estimate.interval->high)};
  json["confidence"] = 0.95;
  json["method"] = std::string(estimate.method);
  return json;
}

static EvaluationJson sideJson(const EvaluationReport &report,
                               const EvaluatedSide &side) {
  EvaluationJson metrics = EvaluationJson::array();
  for (const EvaluatedMetric &metric : side.metrics) {
    EvaluationJson json = estimateJson(metric.estimate);
    json["metric"] = metric.name.text();
    if (!metric.output.empty())
      json["output"] = metric.output;
    if (metric.atHalf)
      json["at_0.5"] = finite(*metric.atHalf);
    if (metric.areProbabilities)
      json["scores"] = *metric.areProbabilities ? "probabilities" : "logits";
    for (const auto &[label, value] : metric.classes)
      json["classes"].push_back({{"class", label},
                                 {"name", labelText(report, label)},
                                 {"value", finite(value)}});
    metrics.push_back(std::move(json));
  }
  return {{"model", side.model},
          {"run_seconds", side.seconds},
          {"runs", side.runs},
          {"metrics", metrics}};
}

EvaluationJson evaluationJson(const EvaluationReport &report) {
  EvaluationJson json = sideJson(report, report.model);
  json["samples"] = report.samples;
  json["seconds"] = report.seconds;
  json["samples_per_s"] =
      finite(static_cast<double>(report.samples) / report.seconds);
  json["chosen"] = report.areChosen;
  json["notes"] = report.notes;
  if (!report.against)
    return json;
  json["against"] = sideJson(report, *report.against);
  for (size_t i = 0; i < report.differences.size(); ++i) {
    const PairedDifference &difference = report.differences[i];
    EvaluationJson each = estimateJson(difference);
    each["metric"] = report.model.metrics[i].name.text();
    if (difference.answers) {
      each["only_model_right"] = difference.answers->onlyFirst;
      each["only_other_right"] = difference.answers->onlySecond;
      each["p"] = difference.answers->probability;
    }
    json["differences"].push_back(std::move(each));
  }
  if (report.agreement)
    json["agreement"] = estimateJson(*report.agreement);
  return json;
}

Result<MetricBound> parseBound(const std::string &text) {
  const size_t sign = text.find('=');
  if (sign == std::string::npos)
    return usageError("'" + text +
                      "': a metric and its bound are expected, as "
                      "in top1=0.75 or top1=75%");
  Result<MetricName> name = parseMetric(text.substr(0, sign));
  if (!name)
    return name.takeError();
  const bool isPercent = text.ends_with('%');
  double value = 0;
  const char *begin = text.data() + sign + 1,
             *end = text.data() + text.size() - (isPercent ? 1 : 0);
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value))
    return usageError("'" + text + "': '" + std::string(begin, end) +
                      "' is no number");
  if (isPercent)
    value /= 100;
  if (isPercent && !name->isPart())
    return usageError("'" + text + "': " + name->text() + " is no proportion");
  if (name->isPart() && (value < 0 || value > 1))
    return usageError("'" + text + "': " + name->text() +
                      " is from 0 to 1; 75% is 0.75");
  return MetricBound{*name, value, text};
}

/// The metric of a bound in the report.
static Result<const EvaluatedMetric *>
boundedMetric(const EvaluationReport &report, const MetricBound &bound,
              const std::string &option) {
  const auto found = std::ranges::find(report.model.metrics, bound.name,
                                       &EvaluatedMetric::name);
  if (found == report.model.metrics.end())
    return usageError(option + " " + bound.text + ": " + bound.name.text() +
                      " was not computed; name it among the metrics");
  return &*found;
}

static Error brokenBound(const EvaluationReport &report,
                         const std::string &what) {
  return inFile(Error(ErrorKind::WrongResult, what), report.model.model);
}

Result<void> checkBounds(const EvaluationReport &report,
                         const EvaluationBounds &bounds) {
  for (const auto &[list, isLeast] :
       {std::pair(&bounds.least, true), std::pair(&bounds.most, false)})
    for (const MetricBound &bound : *list) {
      const std::string &option = isLeast ? bounds.leastName : bounds.mostName;
      auto metric = boundedMetric(report, bound, option);
      if (!metric)
        return metric.takeError();
      const double value = (*metric)->estimate.value;
      // NaN holds no bound.
      if (isLeast ? value >= bound.value : value <= bound.value)
        continue;
      return brokenBound(report, bound.name.text() + " is " +
                                     metricValueText(bound.name, value) +
                                     ", not at " +
                                     (isLeast ? "least " : "most ") +
                                     metricValueText(bound.name, bound.value) +
                                     " (" + option + " " + bound.text + ")");
    }
  if (!bounds.mostLoss)
    return {};
  for (size_t i = 0; i < report.differences.size(); ++i) {
    const MetricName &name = report.model.metrics[i].name;
    if (!name.isPart())
      continue;
    const double loss = -report.differences[i].value * 100;
    if (loss <= *bounds.mostLoss)
      return {};
    return brokenBound(
        report, text("%s is %.2f points below that of '%s' (%s %g)",
                     name.text().c_str(), loss, report.against->model.c_str(),
                     bounds.mostLossName.c_str(), *bounds.mostLoss));
  }
  return usageError(bounds.mostLossName +
                    ": no metric is a proportion, of which it is");
}

} // namespace sinter
