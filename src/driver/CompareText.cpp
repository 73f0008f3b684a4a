#include "driver/CompareText.h"

#include "runtime/TensorText.h"
#include "runtime/Text.h"

#include <algorithm>

namespace sinter::driver {

namespace {

std::string rowText(const ComparedTensor &tensor) {
  if (!tensor.isCompared)
    return text("  %-9s %10s %10s %14s  %s\n", "-", "", "", "",
                titleOf(tensor).c_str());
  if (!tensor.problem.empty())
    return text("  %-9s %10s %10s %14s  %s: %s\n", "DIFFERS", "", "", "",
                titleOf(tensor).c_str(), tensor.problem.c_str());
  const Difference &found = tensor.difference;
  std::string row =
      text("  %-9s %10.3g %10.3g %14s  %s %s",
           tensor.differs() ? "DIFFERS" : "ok", found.largest, found.ofRange(),
           (std::to_string(found.wrong) + "/" + std::to_string(tensor.elements))
               .c_str(),
           titleOf(tensor).c_str(), tensor.type.c_str());
  if (tensor.otherType != tensor.type)
    row += " / " + tensor.otherType;
  if (tensor.differs() && !tensor.furthest.empty()) {
    const ComparedTensor::Element &element = tensor.furthest.front();
    row += "; at " + element.place + ": " + element.expected + " and " +
           element.got;
  }
  return row + "\n";
}

const char *const header =
    "            difference   of range    wrong/of all  tensor\n";

/// A few tensors before and after the first that differs.
std::string excerptText(const CompareReport &report, bool isLong) {
  constexpr size_t before = 3, shown = 16;
  const std::vector<ComparedTensor> &all = report.tensors;
  const auto place = std::ranges::find_if(all, &ComparedTensor::differs);
  size_t first = 0, last = all.size();
  if (!isLong) {
    if (place == all.end())
      return "";
    const auto index = static_cast<size_t>(place - all.begin());
    first = index - std::min(before, index);
    last = std::min(all.size(), first + shown);
  }
  std::string rows = "intermediate tensors, " + std::to_string(first + 1) +
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
  std::string all =
      "first:  " + report.first + "\nsecond: " + report.second + "\n";
  for (const ComparedSizes &each : report.sizes)
    all += std::string(each.agree ? "agree" : "PART") + " at " +
           sizesText(each) + "\n";
  all += "\noutputs\n" + std::string(header);
  for (const ComparedTensor &output : report.outputs)
    all += rowText(output);
  const size_t compared =
      std::ranges::count_if(report.tensors, &ComparedTensor::isCompared);
  const size_t parting =
      std::ranges::count_if(report.tensors, &ComparedTensor::differs);
  if (!report.tensors.empty() && (isLong || parting > 0))
    all += "\n" + excerptText(report, isLong);
  all += "\n" + std::to_string(compared) + " intermediate tensors compared, " +
         std::to_string(parting) + " differ";
  if (report.onlyFirst + report.onlySecond > 0)
    all += "; " + std::to_string(report.onlyFirst) + " only in the first, " +
           std::to_string(report.onlySecond) + " only in the second";
  all += "\n";
  if (const ComparedTensor *differing = report.firstDiffering()) {
    all += "the first that differs: " + titleOf(*differing);
    if (!differing->problem.empty())
      all += ": " + differing->problem;
    else
      all +=
          text(": by %.3g at most, %.3g of its range",
               differing->difference.largest, differing->difference.ofRange());
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

} // namespace sinter::driver
