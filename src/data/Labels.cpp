//===- Labels.cpp - class names for scores --------------------------------===//

#include "data/Labels.h"

#include "runtime/MappedFile.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sinter {

Result<std::vector<std::string>> readLabels(const std::string &path,
                                            const std::string &what) {
  Result<std::string> contents = readFile(path, size_t(1) << 26);
  if (!contents)
    return contents.takeError();
  std::vector<std::string> labels;
  for (size_t at = 0; at < contents->size();) {
    const size_t end = std::min(contents->find('\n', at), contents->size());
    std::string line = contents->substr(at, end - at);
    if (line.ends_with('\r'))
      line.pop_back();
    labels.push_back(std::move(line));
    at = end + 1;
  }
  if (labels.empty())
    return usageError(what + ": '" + path + "' is empty");
  return labels;
}

/// Applies softmax to \p values, unless they are a distribution.
static void normalise(std::vector<double> &values) {
  constexpr double tolerance = 1e-3;
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  if (std::ranges::min(values) >= 0 && std::abs(sum - 1) < tolerance)
    return;
  const double largest = std::ranges::max(values);
  double total = 0;
  for (double &value : values)
    total += value = std::exp(value - largest);
  for (double &value : values)
    value /= total;
}

std::vector<LabelScore> mostProbable(const Tensor &scores,
                                     const std::vector<std::string> &labels,
                                     size_t most) {
  const auto classes = static_cast<int64_t>(labels.size());
  // Networks for images may end in [batch, classes, 1, 1].
  Shape shape = scores.shape();
  while (shape.size() > 1 && shape.back() == 1)
    shape.pop_back();
  if (classes == 0 || shape.empty() || shape.back() != classes ||
      !isFloat(scores.type()) || scores.size() < classes)
    return {};
  std::vector<double> values;
  for (int64_t i = 0; i < classes; ++i)
    values.push_back(scores.toDouble(i));
  normalise(values);
  std::vector<size_t> order(labels.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::ranges::sort(order, [&](size_t a, size_t b) {
    return std::pair(-values[a], a) < std::pair(-values[b], b);
  });
  std::vector<LabelScore> best;
  for (size_t i = 0; i < std::min(most, order.size()); ++i)
    best.push_back({labels[order[i]], values[order[i]]});
  return best;
}

} // namespace sinter
