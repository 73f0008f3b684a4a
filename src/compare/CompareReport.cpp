//===- CompareReport.cpp - the differences between two models -------------===//

#include "compare/CompareReport.h"

#include "runtime/TensorText.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

namespace sinter {

bool CompareReport::agrees() const { return !firstDiffering(); }

const ComparedTensor *CompareReport::firstDiffering() const {
  const bool outputsDiffer =
      std::ranges::any_of(outputs, &ComparedTensor::differs);
  for (const ComparedTensor &tensor : tensors)
    if (tensor.differs() && (tensor.counts() || outputsDiffer))
      return &tensor;
  for (const ComparedTensor &output : outputs)
    if (output.differs())
      return &output;
  return nullptr;
}

std::string CompareCriteria::text() const {
  std::string all;
  const auto add = [&](const std::string &text) {
    all += (all.empty() ? "" : " and ") + text;
  };
  if (isByTolerance())
    add("a difference within " + numberText(tolerance.absolute) + " + " +
        numberText(tolerance.relative) + " |first| + " +
        numberText(tolerance.ofRange) + " max|first|");
  if (minDecibels)
    add("an SQNR of at least " + numberText(*minDecibels) + " dB");
  if (minCosine)
    add("a cosine of at least " + numberText(*minCosine));
  return all;
}

/// Whether what \p tensor holds so far is beyond \p criteria.
static bool isBeyond(const ComparedTensor &tensor,
                     const CompareCriteria &criteria) {
  const Similarity &similarity = tensor.similarity;
  return (criteria.isByTolerance() && tensor.difference.wrong > 0) ||
         (criteria.minDecibels &&
          !(similarity.decibels() >= *criteria.minDecibels)) ||
         (criteria.minCosine && !(similarity.cosine() >= *criteria.minCosine));
}

void compareInto(ComparedTensor &tensor, const Tensor &expected,
                 const Tensor &got, const CompareCriteria &criteria) {
  constexpr size_t shownElements = 8;
  const bool isFirst = !tensor.isCompared;
  tensor.isCompared = true;
  const std::string type = toString(expected.type(), expected.shape()),
                    otherType = toString(got.type(), got.shape());
  if (isFirst) {
    tensor.type = type;
    tensor.otherType = otherType;
    tensor.elements = expected.size();
  }
  if (expected.shape() != got.shape() ||
      isComplex(expected.type()) != isComplex(got.type()) ||
      isString(expected.type()) != isString(got.type())) {
    tensor.problem = type + " in one, " + otherType + " in the other";
    return;
  }
  const Difference found =
      differenceOf(got, expected, Expectation::within(criteria.tolerance));
  tensor.similarity.add(similarityOf(got, expected));
  const bool isWrong = found.wrong > 0, wasWrong = tensor.difference.wrong > 0;
  const bool isLarger =
      isWrong == wasWrong ? found.largest > tensor.difference.largest : isWrong;
  if (isFirst || isLarger) {
    tensor.difference = found;
    tensor.furthest.clear();
    for (const int64_t element :
         furthestElements(got, expected, found.wrong > 0 ? shownElements : 1)) {
      auto [was, is] = elementTexts(expected, got, element);
      tensor.furthest.push_back({indexText(expected.shape(), element),
                                 std::move(was), std::move(is)});
    }
  }
  tensor.isBeyond = isBeyond(tensor, criteria);
}

std::string decibelsText(const Similarity &similarity) {
  const double decibels = similarity.decibels();
  if (std::isfinite(decibels)) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.1f dB", decibels);
    return text;
  }
  return decibels > 0 ? "exact" : "no signal";
}

std::string differenceText(const ComparedTensor &tensor) {
  if (!tensor.problem.empty())
    return tensor.problem;
  char text[128];
  std::snprintf(text, sizeof(text), "by %.3g at most, %.3g of its range",
                tensor.difference.largest, tensor.difference.ofRange());
  return text + (", SQNR " + decibelsText(tensor.similarity));
}

std::string titleOf(const ComparedWeight &weight) {
  std::string title = titleOf(weight.values);
  if (!weight.layer.empty())
    title += " of layer '" + oneLine(weight.layer) + "'";
  return title;
}

std::string titleOf(const ComparedTensor &tensor) {
  std::string title = tensor.name.empty() ? "a tensor without a name"
                                          : "'" + oneLine(tensor.name) + "'";
  if (tensor.otherName != tensor.name && !tensor.otherName.empty())
    title += " / '" + tensor.otherName + "'";
  return title + (tensor.op.empty() ? "" : " (" + tensor.op + ")");
}

const char *textOf(MatchedBy by) {
  constexpr const char *texts[] = {"output", "model",  "name",
                                   "name",   "origin", "flow"};
  return texts[static_cast<size_t>(by)];
}

/// "5 intermediate tensors".
static std::string countText(size_t count, const std::string &what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string CompareReport::verdict() const {
  const size_t apart = static_cast<size_t>(
      std::ranges::count_if(tensors, &ComparedTensor::differs));
  std::string weightText;
  if (!weights.empty())
    weightText = (weights.size() == 1
                      ? "weight "
                      : countText(weights.size(), "weight") + ", first ") +
                 titleOf(weights.front()) + " " +
                 (weights.size() == 1 ? "differs" : "differ") + " (" +
                 differenceText(weights.front().values) + ")";
  const ComparedTensor *differing = firstDiffering();
  if (!differing) {
    std::string text = "ok: " + countText(outputs.size(), "output") +
                       (outputs.size() == 1 ? " agrees" : " agree") + " (" +
                       criteria.text() + ")";
    if (apart > 0)
      text += "; " + countText(apart, "intermediate tensor") +
              (apart == 1 ? " differs" : " differ") +
              ", which shows in no output";
    return weightText.empty() ? text : text + "; " + weightText;
  }
  const auto output = std::ranges::find_if(outputs, &ComparedTensor::differs);
  const ComparedTensor &shown = output == outputs.end() ? *differing : *output;
  return "DIFFER: " + (weightText.empty() ? "" : weightText + "; ") +
         (output == outputs.end() ? "tensor " : "output ") + titleOf(shown) +
         " " + differenceText(shown) + ", where " + criteria.text() +
         " is wanted";
}

std::string sizesText(const ComparedSizes &of) {
  std::string text;
  for (const auto &[symbol, size] : of.sizes)
    text += (text.empty() ? "" : ", ") + symbol + " = " + std::to_string(size);
  return text;
}

namespace {

/// JSON has no numbers for NaN and infinity.
nlohmann::json numberJson(double value) {
  if (std::isfinite(value))
    return value;
  return numberText(value);
}

nlohmann::json optionalJson(const std::optional<double> &value) {
  return value ? nlohmann::json(*value) : nlohmann::json();
}

nlohmann::json tensorJson(const ComparedTensor &tensor) {
  nlohmann::json json = {{"name", tensor.name},
                         {"other_name", tensor.otherName},
                         {"op", tensor.op},
                         {"matched_by", textOf(tensor.by)},
                         {"compared", tensor.isCompared}};
  if (!tensor.isCompared)
    return json;
  json["parts"] = tensor.differs();
  json["type"] = tensor.type;
  json["other_type"] = tensor.otherType;
  if (!tensor.problem.empty()) {
    json["problem"] = tensor.problem;
    return json;
  }
  json["elements"] = tensor.elements;
  json["wrong"] = tensor.difference.wrong;
  json["difference"] = numberJson(tensor.difference.largest);
  json["of_range"] = numberJson(tensor.difference.ofRange());
  json["snr_db"] = numberJson(tensor.similarity.decibels());
  json["cosine"] = tensor.similarity.cosine();
  json["furthest"] = nlohmann::json::array();
  for (const ComparedTensor::Element &element : tensor.furthest)
    json["furthest"].push_back({{"place", element.place},
                                {"first", element.expected},
                                {"second", element.got}});
  return json;
}

} // namespace

nlohmann::json reportJson(const CompareReport &report) {
  nlohmann::json json = {
      {"first", report.first},
      {"second", report.second},
      {"agrees", report.agrees()},
      {"verdict", report.verdict()},
      {"rtol", report.criteria.tolerance.relative},
      {"atol", report.criteria.tolerance.absolute},
      {"range_atol", report.criteria.tolerance.ofRange},
      {"by_tolerance", report.criteria.isByTolerance()},
      {"min_snr", optionalJson(report.criteria.minDecibels)},
      {"min_cosine", optionalJson(report.criteria.minCosine)},
      {"weights", nlohmann::json::array()},
      {"only_first", report.onlyFirst},
      {"only_second", report.onlySecond},
      {"notes", report.notes},
      {"sizes", nlohmann::json::array()},
      {"outputs", nlohmann::json::array()},
      {"tensors", nlohmann::json::array()}};
  for (const ComparedSizes &each : report.sizes)
    json["sizes"].push_back(
        {{"sizes", nlohmann::json(std::map<std::string, int64_t>(
                       each.sizes.begin(), each.sizes.end()))},
         {"agree", each.agree}});
  for (const ComparedWeight &weight : report.weights) {
    nlohmann::json each = tensorJson(weight.values);
    each.erase("matched_by");
    each["layer"] = weight.layer;
    each["folded"] = weight.isFolded;
    json["weights"].push_back(std::move(each));
  }
  for (const ComparedTensor &output : report.outputs)
    json["outputs"].push_back(tensorJson(output));
  for (const ComparedTensor &tensor : report.tensors)
    json["tensors"].push_back(tensorJson(tensor));
  const ComparedTensor *differing = report.firstDiffering();
  json["first_parting"] = differing ? tensorJson(*differing) : nlohmann::json();
  if (!report.pass.empty())
    json["pass"] = report.pass;
  if (report.step)
    json["rewrite"] = {
        {"step", report.step->step}, {"steps", report.step->steps},
        {"pass", report.step->pass}, {"pattern", report.step->label},
        {"op", report.step->op},     {"location", report.step->location}};
  if (!report.reduced.empty())
    json["reduced"] = {{"output", report.reduced},
                       {"operations", report.reducedOperations}};
  return json;
}

} // namespace sinter
