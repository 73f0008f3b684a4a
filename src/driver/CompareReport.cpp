//===- CompareReport.cpp - how two models differ --------------------------===//

#include "driver/CompareReport.h"

#include "driver/Text.h"
#include "runtime/TensorText.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace sinter::driver {

bool CompareReport::agrees() const { return !firstParting(); }

const ComparedTensor *CompareReport::firstParting() const {
  const bool outputsPart = std::ranges::any_of(outputs, &ComparedTensor::parts);
  for (const ComparedTensor &tensor : tensors)
    if (tensor.parts() && (tensor.counts() || outputsPart))
      return &tensor;
  for (const ComparedTensor &output : outputs)
    if (output.parts())
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
  std::string title =
      tensor.name.empty() ? "a tensor without a name" : "'" + tensor.name + "'";
  if (tensor.otherName != tensor.name && !tensor.otherName.empty())
    title += " / '" + tensor.otherName + "'";
  return title + (tensor.op.empty() ? "" : " (" + tensor.op + ")");
}

const char *textOf(MatchedBy by) {
  constexpr const char *texts[] = {"output", "model", "name", "origin",
                                   "position"};
  return texts[static_cast<size_t>(by)];
}

namespace {

std::string rowText(const ComparedTensor &tensor) {
  if (!tensor.isCompared)
    return text("  %-9s %10s %10s %14s  %s\n", "-", "", "", "",
                titleOf(tensor).c_str());
  if (!tensor.problem.empty())
    return text("  %-9s %10s %10s %14s  %s: %s\n", "PARTS", "", "", "",
                titleOf(tensor).c_str(), tensor.problem.c_str());
  const Difference &found = tensor.difference;
  std::string row =
      text("  %-9s %10.3g %10.3g %14s  %s %s", tensor.parts() ? "PARTS" : "ok",
           found.largest, found.ofRange(),
           (std::to_string(found.wrong) + "/" + std::to_string(tensor.elements))
               .c_str(),
           titleOf(tensor).c_str(), tensor.type.c_str());
  if (tensor.otherType != tensor.type)
    row += " / " + tensor.otherType;
  if (tensor.parts() && !tensor.furthest.empty()) {
    const ComparedTensor::Element &element = tensor.furthest.front();
    row += "; at " + element.place + ": " + element.expected + " and " +
           element.got;
  }
  return row + "\n";
}

const char *const header =
    "            difference   of range    wrong/of all  tensor\n";

/// A few tensors before and behind the first that parts.
std::string excerptText(const CompareReport &report, bool isLong) {
  constexpr size_t before = 3, shown = 16;
  const std::vector<ComparedTensor> &all = report.tensors;
  const auto place = std::ranges::find_if(all, &ComparedTensor::parts);
  size_t first = 0, last = all.size();
  if (!isLong) {
    if (place == all.end())
      return "";
    const auto index = static_cast<size_t>(place - all.begin());
    first = index - std::min(before, index);
    last = std::min(all.size(), first + shown);
  }
  std::string rows = "tensors on the way, " + std::to_string(first + 1) +
                     " to " + std::to_string(last) + " of " +
                     std::to_string(all.size()) +
                     (isLong ? "\n" : " (-v: all)\n") + header;
  for (size_t i = first; i < last; ++i)
    rows += rowText(all[i]);
  return rows;
}

std::string stepText(const FoundStep &step) {
  return text(
      "rewrite %llu of %llu makes the difference: pattern %s of pass "
      "%s%s%s%s",
      static_cast<unsigned long long>(step.step),
      static_cast<unsigned long long>(step.steps), step.label.c_str(),
      step.pass.c_str(), step.op.empty() ? "" : ", on ", step.op.c_str(),
      step.location.empty() ? "" : (" at '" + step.location + "'").c_str());
}

} // namespace

std::string reportText(const CompareReport &report, bool isLong) {
  std::string all = "first:  " + report.first + "\nsecond: " + report.second +
                    "\n\noutputs\n" + header;
  for (const ComparedTensor &output : report.outputs)
    all += rowText(output);
  const size_t compared =
      std::ranges::count_if(report.tensors, &ComparedTensor::isCompared);
  const size_t parting =
      std::ranges::count_if(report.tensors, &ComparedTensor::parts);
  if (!report.tensors.empty() && (isLong || parting > 0))
    all += "\n" + excerptText(report, isLong);
  all += "\n" + std::to_string(compared) + " tensors on the way compared, " +
         std::to_string(parting) + " part";
  if (report.onlyFirst + report.onlySecond > 0)
    all += "; " + std::to_string(report.onlyFirst) + " only in the first, " +
           std::to_string(report.onlySecond) + " only in the second";
  all += "\n";
  if (const ComparedTensor *parts = report.firstParting()) {
    all += "the first that parts: " + titleOf(*parts);
    if (!parts->problem.empty())
      all += ": " + parts->problem;
    else
      all += text(": by %.3g at most, %.3g of its range",
                  parts->difference.largest, parts->difference.ofRange());
    all += "\n";
  } else {
    all += "all agree\n";
  }
  if (!report.pass.empty())
    all += "the first pass after which they part: " + report.pass + "\n";
  if (report.step)
    all += stepText(*report.step) + "\n";
  if (!report.reduced.empty())
    all += "the smallest model that shows it has " +
           std::to_string(report.reducedOperations) +
           " operations: " + report.reduced + "\n";
  return all;
}

namespace {

/// What is not finite has no number in JSON.
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
  json["parts"] = tensor.parts();
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
                         {"outputs", nlohmann::json::array()},
                         {"tensors", nlohmann::json::array()}};
  for (const ComparedTensor &output : report.outputs)
    json["outputs"].push_back(tensorJson(output));
  for (const ComparedTensor &tensor : report.tensors)
    json["tensors"].push_back(tensorJson(tensor));
  const ComparedTensor *parts = report.firstParting();
  json["first_parting"] = parts ? tensorJson(*parts) : nlohmann::json();
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

} // namespace sinter::driver
