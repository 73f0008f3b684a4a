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

void compareInto(ComparedTensor &tensor, const Tensor &expected,
                 const Tensor &got, const Tolerance &tolerance) {
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
      isComplex(expected.type()) != isComplex(got.type())) {
    tensor.problem = type + " in one, " + otherType + " in the other";
    return;
  }
  const Difference found =
      differenceOf(got, expected, Expectation::within(tolerance));
  if (!isFirst && (found.wrong == 0 || tensor.difference.wrong > 0) &&
      found.largest <= tensor.difference.largest)
    return;
  tensor.difference = found;
  tensor.furthest.clear();
  for (const int64_t element :
       furthestElements(got, expected, found.wrong > 0 ? shownElements : 1)) {
    auto [was, is] = elementTexts(expected, got, element);
    tensor.furthest.push_back(
        {placeText(expected.shape(), element), std::move(was), std::move(is)});
  }
}

std::string titleOf(const ComparedTensor &tensor) {
  std::string title = tensor.name.empty() ? "a tensor without a name"
                                          : "'" + oneLine(tensor.name) + "'";
  if (tensor.otherName != tensor.name && !tensor.otherName.empty())
    title += " / '" + tensor.otherName + "'";
  return title + (tensor.op.empty() ? "" : " (" + tensor.op + ")");
}

const char *textOf(MatchedBy by) {
  constexpr const char *texts[] = {"output", "model", "name", "origin",
                                   "position"};
  return texts[static_cast<size_t>(by)];
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
  json["furthest"] = nlohmann::json::array();
  for (const ComparedTensor::Element &element : tensor.furthest)
    json["furthest"].push_back({{"place", element.place},
                                {"first", element.expected},
                                {"second", element.got}});
  return json;
}

} // namespace

nlohmann::json reportJson(const CompareReport &report) {
  nlohmann::json json = {{"first", report.first},
                         {"second", report.second},
                         {"agrees", report.agrees()},
                         {"rtol", report.tolerance.relative},
                         {"atol", report.tolerance.absolute},
                         {"range_atol", report.tolerance.ofRange},
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
