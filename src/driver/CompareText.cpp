#include "driver/CompareText.h"

#include "runtime/TensorText.h"
#include "runtime/Text.h"

#include <algorithm>

namespace sinter::driver {

namespace {

/// "agrees", "DIFFERS", or "(differs)" if that does not decide.
const char *stateOf(const ComparedTensor &tensor, bool decides) {
  if (!tensor.isCompared)
    return "-";
  if (!tensor.differs())
    return "agrees";
  return decides ? "DIFFERS" : "(differs)";
}

std::string rowText(const ComparedTensor &tensor, bool decides) {
  const char *state = stateOf(tensor, decides);
  if (!tensor.isCompared || !tensor.problem.empty())
    return text("  %-9s %10s %10s %9s %8s %14s  %s%s%s\n", state, "", "", "",
                "", "", titleOf(tensor).c_str(),
                tensor.problem.empty() ? "" : ": ", tensor.problem.c_str());
  const Difference &found = tensor.difference;
  std::string row =
      text("  %-9s %10.3g %10.3g %9s %8.5f %14s  %s %s", state, found.largest,
           found.ofRange(), decibelsText(tensor.similarity).c_str(),
           tensor.similarity.cosine(),
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

const char *const header = "            difference   of range      SQNR   "
                           "cosine    wrong/of all  tensor\n";

/// The weights that differ, a few unless \p isLong.
std::string weightsText(const CompareReport &report, bool isLong) {
  constexpr size_t shown = 8;
  const std::vector<ComparedWeight> &all = report.weights;
  if (all.empty())
    return "";
  const size_t count = isLong ? all.size() : std::min(shown, all.size());
  std::string rows = "weights that differ";
  if (count < all.size())
    rows += ", " + std::to_string(count) + " of " + std::to_string(all.size()) +
            " (-v: all)";
  rows += "\n";
  for (size_t i = 0; i < count; ++i)
    rows += "  " + titleOf(all[i]) + ": " + differenceText(all[i].values) +
            (all[i].isFolded ? ", as folded" : "") + "\n";
  return rows + "\n";
}

/// A few tensors before and after the first that differs.
std::string excerptText(const CompareReport &report, bool isLong) {
  constexpr size_t before = 3, shown = 16;
  const std::vector<ComparedTensor> &all = report.tensors;
  const bool outputsDiffer =
      std::ranges::any_of(report.outputs, &ComparedTensor::differs);
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
    rows += rowText(all[i], all[i].counts() || outputsDiffer);
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
    all += std::string(each.agree ? "agree" : "DIFFER") + " at " +
           sizesText(each) + "\n";
  all += "\n" + weightsText(report, isLong) + "outputs\n" + header;
  for (const ComparedTensor &output : report.outputs)
    all += rowText(output, /*decides=*/true);
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
  if (const ComparedTensor *differing = report.firstDiffering())
    all += "the first that differs: " + titleOf(*differing) + ": " +
           differenceText(*differing) + "\n";
  if (!report.pass.empty())
    all += "the first pass after which they differ: " + report.pass + "\n";
  if (report.step)
    all += stepText(*report.step) + "\n";
  if (!report.reduced.empty())
    all += "the smallest model that shows it has " +
           std::to_string(report.reducedOperations) +
           " operations: " + report.reduced + "\n";
  all += report.verdict() + "\n";
  return all;
}

} // namespace sinter::driver
