//===- ModelMetrics.cpp - the metrics of a model's outputs ----------------===//

#include "evaluate/ModelMetrics.h"

#include "metrics/AveragePrecision.h"
#include "metrics/ClassMetrics.h"
#include "metrics/Overlap.h"

#include <algorithm>
#include <charconv>

namespace sinter {

using Kind = MetricName::Kind;

static constexpr std::pair<Kind, const char *> namedKinds[] = {
    {Kind::CrossEntropy, "cross-entropy"}, {Kind::MeanSquared, "mse"},
    {Kind::MeanAbsolute, "mae"},           {Kind::Overlap, "iou"},
    {Kind::AveragePrecision, "map"},
};

std::string MetricName::text() const {
  for (const auto &[each, name] : namedKinds)
    if (each == kind)
      return name;
  return "top" + std::to_string(most);
}

bool MetricName::isLoss() const {
  return kind == Kind::CrossEntropy || kind == Kind::MeanSquared ||
         kind == Kind::MeanAbsolute;
}

Result<MetricName> parseMetric(const std::string &text) {
  for (const auto &[kind, name] : namedKinds)
    if (text == name)
      return MetricName{kind, 1};
  int64_t most = 0;
  const char *end = text.data() + text.size();
  if (text.starts_with("top")) {
    const auto [stop, error] = std::from_chars(text.data() + 3, end, most);
    if (error == std::errc() && stop == end && most > 0)
      return MetricName{Kind::Top, most};
  }
  return usageError("'" + text +
                    "' is no metric: there are top1, top5 (any number), "
                    "cross-entropy, mse, mae, iou and map");
}

namespace {

/// The scores of classes for each pixel of a map, and its height and width.
struct PixelScores {
  ClassScores scores;
  int64_t height, width;
};

/// [1, classes, height, width], or with the classes last if only that fits.
std::optional<PixelScores> pixelScores(const Tensor &output,
                                       const Tensor &target) {
  if (output.rank() != 4 || target.rank() != 3 || !isFloat(output.type()))
    return std::nullopt;
  if (auto same = ClassScores::forLabels(output, target.shape()))
    return PixelScores{std::move(*same), target.dim(1), target.dim(2)};
  if (output.dim(0) != 1 || output.dim(1) < 2)
    return std::nullopt;
  return PixelScores{ClassScores(output, 1), output.dim(2), output.dim(3)};
}

/// A map of classes, [1, height, width], that the output is itself.
std::optional<Tensor> integerMap(const Tensor &output) {
  Shape shape = output.shape();
  if (shape.size() == 4 && shape[1] == 1)
    shape.erase(shape.begin() + 1);
  else if (shape.size() == 4 && shape[3] == 1)
    shape.pop_back();
  if (!isInteger(output.type()) || shape.size() != 3 || shape[0] != 1)
    return std::nullopt;
  return output.reshaped(shape);
}

/// The class of each pixel of \p output, of shape [1, height, width].
std::optional<Tensor> predictedMap(const Tensor &output, const Tensor &target) {
  if (auto map = integerMap(output))
    return map;
  auto pixels = pixelScores(output, target);
  if (!pixels)
    return std::nullopt;
  std::vector<int64_t> classes;
  for (int64_t i = 0; i < pixels->scores.rows(); ++i)
    classes.push_back(pixels->scores.top(i));
  return Tensor::of<int64_t>(ElementType::I64,
                             {1, pixels->height, pixels->width}, classes);
}

/// \p map, [1, height, width], at another size: each pixel is the nearest.
Tensor nearest(const Tensor &map, int64_t height, int64_t width) {
  std::vector<int64_t> values;
  for (int64_t row = 0; row < height; ++row)
    for (int64_t column = 0; column < width; ++column)
      values.push_back(
          map.toInteger((2 * row + 1) * map.dim(1) / (2 * height) * map.dim(2) +
                        (2 * column + 1) * map.dim(2) / (2 * width)));
  return Tensor::of<int64_t>(ElementType::I64, {1, height, width}, values);
}

bool fitsMetric(Kind kind, const Tensor &output, const Tensor &target) {
  switch (kind) {
  case Kind::Top:
  case Kind::CrossEntropy:
    return isInteger(target.type()) &&
           ClassScores::forLabels(output, target.shape());
  case Kind::MeanSquared:
  case Kind::MeanAbsolute:
    return output.shape() == target.shape() && !isComplex(output.type()) &&
           !isComplex(target.type());
  case Kind::Overlap:
    return isInteger(target.type()) && target.rank() == 3 &&
           (integerMap(output) || pixelScores(output, target));
  case Kind::AveragePrecision:
    return false;
  }
  return false;
}

/// The metrics for outputs and truth like these.
std::vector<MetricName> fittingMetrics(const std::vector<Tensor> &outputs,
                                       const SampleTruth &truth) {
  const auto fitsOne = [&](Kind kind) {
    return std::ranges::any_of(outputs, [&](const Tensor &each) {
      return fitsMetric(kind, each, truth.target);
    });
  };
  if (fitsOne(Kind::Overlap))
    return {{Kind::Overlap, 1}};
  if (fitsOne(Kind::Top)) {
    constexpr int64_t manyClasses = 10;
    std::vector<MetricName> names = {{Kind::Top, 1}};
    for (const Tensor &each : outputs)
      if (auto scores = ClassScores::forLabels(each, truth.target.shape())) {
        if (scores->classes() >= manyClasses)
          names.push_back({Kind::Top, 5});
        break;
      }
    names.push_back({Kind::CrossEntropy, 1});
    return names;
  }
  if (fitsOne(Kind::MeanSquared))
    return {{Kind::MeanSquared, 1}};
  return {};
}

std::string outputsText(const std::vector<std::string> &names,
                        const std::vector<Tensor> &outputs) {
  std::string list;
  for (size_t i = 0; i < outputs.size(); ++i)
    list += (i ? ", '" : "'") + names[i] + "' " +
            toString(outputs[i].type(), outputs[i].shape());
  return list;
}

std::unique_ptr<SampleMetric> makeMetric(const MetricName &name,
                                         const Tensor *output,
                                         const Tensor &target,
                                         const MetricRules &rules) {
  switch (name.kind) {
  case Kind::Top:
    return std::make_unique<SampledMean>(/*countsAnswers=*/true);
  case Kind::CrossEntropy:
    return std::make_unique<CrossEntropy>(rules.areProbabilities);
  case Kind::MeanSquared:
  case Kind::MeanAbsolute:
    return std::make_unique<SampledMean>(/*countsAnswers=*/false);
  case Kind::Overlap: {
    const auto pixels = integerMap(*output) ? std::optional<PixelScores>()
                                            : pixelScores(*output, target);
    return std::make_unique<Overlap>(pixels ? pixels->scores.classes()
                                            : rules.mapClasses);
  }
  case Kind::AveragePrecision:
    return std::make_unique<AveragePrecision>();
  }
  return nullptr;
}

} // namespace

Result<ModelMetrics>
ModelMetrics::of(const std::vector<MetricName> &names,
                 const std::vector<std::string> &outputNames,
                 const std::vector<Tensor> &outputs, const SampleTruth &truth,
                 MetricRules rules) {
  const bool hasBoxes = rules.areBoxes;
  const std::vector<MetricName> wanted =
      !names.empty() ? names
      : hasBoxes     ? std::vector<MetricName>{{Kind::AveragePrecision, 1}}
                     : fittingMetrics(outputs, truth);
  const auto truthText = [&] {
    return hasBoxes ? std::string("boxes")
                    : toString(truth.target.type(), truth.target.shape());
  };
  if (wanted.empty())
    return usageError("no metric is known for outputs " +
                      outputsText(outputNames, outputs) + " and a truth of " +
                      truthText() + " a sample");
  std::optional<size_t> only;
  if (!rules.output.empty()) {
    const auto found = std::ranges::find(outputNames, rules.output);
    if (found == outputNames.end())
      return usageError("the model has no output '" + rules.output +
                        "'; its outputs are " +
                        outputsText(outputNames, outputs));
    only = found - outputNames.begin();
  }
  ModelMetrics metrics;
  for (const MetricName &name : wanted) {
    Entry entry{name, {}, nullptr};
    const bool isOfBoxes = name.kind == Kind::AveragePrecision;
    for (size_t i = 0; !isOfBoxes && !hasBoxes && i < outputs.size(); ++i)
      if ((!only || *only == i) && !entry.output &&
          fitsMetric(name.kind, outputs[i], truth.target))
        entry.output = i;
    if (isOfBoxes != hasBoxes || (!isOfBoxes && !entry.output))
      return usageError(name.text() + " is not of outputs " +
                        outputsText(outputNames, outputs) + " and a truth of " +
                        truthText() + " a sample");
    if (entry.output) {
      const auto scores = name.kind == Kind::Top
                              ? ClassScores::forLabels(outputs[*entry.output],
                                                       truth.target.shape())
                              : std::nullopt;
      if (scores && name.most > scores->classes())
        return usageError(name.text() + ": the model has only " +
                          std::to_string(scores->classes()) + " classes");
    }
    entry.metric =
        makeMetric(name, entry.output ? &outputs[*entry.output] : nullptr,
                   truth.target, rules);
    metrics.all.push_back(std::move(entry));
  }
  metrics.rules = std::move(rules);
  return metrics;
}

Result<void> ModelMetrics::add(const std::vector<Tensor> &outputs,
                               const SampleTruth &truth,
                               const std::vector<Detection> &detections) {
  for (Entry &entry : all)
    if (Result<void> done = addTo(entry, outputs, truth, detections); !done)
      return done;
  return {};
}

Result<void> ModelMetrics::addMap(Entry &entry, const Tensor &output,
                                  const SampleTruth &truth) {
  const auto map = predictedMap(output, truth.target);
  if (!map)
    return usageError("an output of " +
                      toString(output.type(), output.shape()) +
                      " is no map of classes");
  Tensor wanted = truth.target;
  if (wanted.dim(1) != map->dim(1) || wanted.dim(2) != map->dim(2)) {
    if (wanted.size() == 0)
      return usageError("the truth is an empty map");
    wanted = nearest(wanted, map->dim(1), map->dim(2));
    isTruthResized = true;
  }
  const auto pixels = pixelScores(output, truth.target);
  const int64_t classes =
      integerMap(output) ? rules.mapClasses : pixels->scores.classes();
  if (Result<void> good = checkLabels(wanted, classes, rules.ignoredLabel);
      !good)
    return good;
  static_cast<Overlap &>(*entry.metric).add(*map, wanted, rules.ignoredLabel);
  return {};
}

Result<void> ModelMetrics::addTo(Entry &entry,
                                 const std::vector<Tensor> &outputs,
                                 const SampleTruth &truth,
                                 const std::vector<Detection> &detections) {
  if (entry.name.kind == Kind::AveragePrecision) {
    static_cast<AveragePrecision &>(*entry.metric).add(detections, truth.boxes);
    return {};
  }
  const Tensor &output = outputs[*entry.output];
  if (!fitsMetric(entry.name.kind, output, truth.target))
    return usageError(entry.name.text() + " is not of an output of " +
                      toString(output.type(), output.shape()) +
                      " and a truth of " +
                      toString(truth.target.type(), truth.target.shape()));
  if (entry.name.kind == Kind::Overlap)
    return addMap(entry, output, truth);
  if (entry.name.isLoss() && entry.name.kind != Kind::CrossEntropy) {
    static_cast<SampledMean &>(*entry.metric)
        .add(errorsOf(output, truth.target,
                      entry.name.kind == Kind::MeanAbsolute));
    return {};
  }
  const auto scores = ClassScores::forLabels(output, truth.target.shape());
  if (Result<void> good =
          checkLabels(truth.target, scores->classes(), rules.ignoredLabel);
      !good)
    return good;
  if (entry.name.kind == Kind::CrossEntropy)
    static_cast<CrossEntropy &>(*entry.metric)
        .add(*scores, truth.target, rules.ignoredLabel);
  else
    static_cast<SampledMean &>(*entry.metric)
        .add(topAnswers(*scores, truth.target, entry.name.most,
                        rules.ignoredLabel));
  return {};
}

std::optional<std::vector<int64_t>>
ModelMetrics::answers(const std::vector<Tensor> &outputs,
                      const SampleTruth &truth) const {
  for (const Entry &entry : all) {
    if (!entry.output)
      continue;
    const Tensor &output = outputs[*entry.output];
    if (entry.name.kind == Kind::Overlap) {
      std::vector<int64_t> classes;
      if (const auto map = predictedMap(output, truth.target))
        for (int64_t i = 0; i < map->size(); ++i)
          classes.push_back(map->toInteger(i));
      return classes;
    }
    if (entry.name.kind != Kind::Top && entry.name.kind != Kind::CrossEntropy)
      continue;
    const auto scores = ClassScores::forLabels(output, truth.target.shape());
    if (!scores)
      return std::nullopt;
    std::vector<int64_t> classes;
    for (int64_t row = 0; row < scores->rows(); ++row)
      classes.push_back(scores->hasNaN(row) ? -1 : scores->top(row));
    return classes;
  }
  return std::nullopt;
}

} // namespace sinter
