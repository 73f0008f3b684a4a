//===- Labels.cpp - class names for scores --------------------------------===//

#include "data/Labels.h"

#include "runtime/MappedFile.h"
#include "runtime/Text.h"

#include <algorithm>
#include <cmath>
#include <limits>
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
  // Lines without a name at the end are no classes.
  while (!labels.empty() && labels.back().empty())
    labels.pop_back();
  if (labels.empty())
    return usageError(what + ": '" + path + "' is empty");
  return labels;
}

std::vector<std::string> keptLabels(const ModelDescription &model) {
  for (const auto &[key, text] : model.metadata.entries)
    if (key == labelsKey)
      return partsOf(text, '\n');
  return {};
}

Result<std::string> labelsText(const std::vector<std::string> &labels) {
  std::string all;
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i].find('\n') != std::string::npos)
      return usageError("the name of class " + std::to_string(i) +
                        " has a line break");
    all += (i ? "\n" : "") + labels[i];
  }
  return all;
}

Result<std::vector<std::string>> labelsFor(const ModelDescription &model,
                                           const std::string &path,
                                           const std::string &what) {
  std::vector<std::string> kept = keptLabels(model);
  if (path.empty())
    return kept;
  Result<std::vector<std::string>> given = readLabels(path, what);
  if (!given || kept.empty() || *given == kept)
    return given;
  const std::string where = what + " '" + path + "'";
  if (given->size() != kept.size())
    return usageError(where + " has " + std::to_string(given->size()) +
                      " names, and the model keeps " +
                      std::to_string(kept.size()) + " (" + labelsKey + ")");
  const auto [ours, its] = std::ranges::mismatch(*given, kept);
  return usageError(where + ": line " +
                    std::to_string(ours - given->begin() + 1) + " is '" +
                    *ours + "', and the model calls that class '" + *its +
                    "' (" + labelsKey + ")");
}

/// \p shape without dimensions of size 1 at its end: networks for images may
/// end in [batch, classes, 1, 1].
static Shape scoreShape(Shape shape) {
  while (shape.size() > 1 && shape.back() == 1)
    shape.pop_back();
  return shape;
}

bool mayHaveClasses(ElementType type, const Shape &shape, size_t classes) {
  if (!isFloat(type) || classes == 0)
    return false;
  const auto wanted = static_cast<int64_t>(classes);
  const Shape plain = scoreShape(shape);
  if (!plain.empty() && (plain.back() == wanted || plain.back() < 0))
    return true;
  // A single class may be one of the dimensions at the end.
  return wanted == 1 && !shape.empty() && shape.back() == 1;
}

/// Applies softmax to \p values, unless they are a distribution.
static void normalise(std::vector<double> &values) {
  constexpr double tolerance = 1e-3;
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  if (std::ranges::min(values) >= 0 && std::abs(sum - 1) < tolerance)
    return;
  double largest = -std::numeric_limits<double>::infinity();
  for (const double value : values)
    largest = std::fmax(largest, value);
  double total = 0;
  for (double &value : values) {
    // Where the largest is infinite, the difference to itself is none.
    value = value == largest ? 1 : std::exp(value - largest);
    if (!std::isnan(value))
      total += value;
  }
  for (double &value : values)
    value /= total;
}

/// The \p most best of \p values, which are changed.
static std::vector<LabelScore> bestOf(std::vector<double> &values,
                                      const std::vector<std::string> &labels,
                                      size_t most) {
  normalise(values);
  std::vector<size_t> order(labels.size());
  std::iota(order.begin(), order.end(), size_t(0));
  const auto rank = [&](size_t i) {
    return std::isnan(values[i]) ? 1.0 : -values[i];
  };
  most = std::min(most, order.size());
  std::ranges::partial_sort(
      order, order.begin() + static_cast<long>(most), [&](size_t a, size_t b) {
        return std::pair(rank(a), a) < std::pair(rank(b), b);
      });
  std::vector<LabelScore> best;
  for (size_t i = 0; i < most; ++i)
    best.push_back({labels[order[i]], values[order[i]]});
  return best;
}

std::vector<LabelledRow> mostProbable(const Tensor &scores,
                                      const std::vector<std::string> &labels,
                                      size_t most) {
  const auto classes = static_cast<int64_t>(labels.size());
  Shape shape = scoreShape(scores.shape());
  if (classes == 1 && !shape.empty() && shape.back() != 1 &&
      scores.shape().back() == 1)
    shape.push_back(1);
  if (classes == 0 || shape.empty() || shape.back() != classes ||
      !isFloat(scores.type()))
    return {};
  shape.pop_back();
  std::vector<LabelledRow> rows;
  std::vector<double> values(labels.size());
  std::vector<int64_t> index(shape.size(), 0);
  for (int64_t row = 0; row < scores.size() / classes; ++row) {
    for (int64_t i = 0; i < classes; ++i)
      values[i] = scores.toDouble(row * classes + i);
    rows.push_back({index, bestOf(values, labels, most)});
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis])
        break;
      index[axis] = 0;
    }
  }
  return rows;
}

Result<void> checkLabels(std::span<const TensorSpec> outputs,
                         const std::vector<std::string> &labels,
                         const std::string &what) {
  std::string list;
  for (const TensorSpec &output : outputs) {
    if (mayHaveClasses(output.type, output.shape, labels.size()))
      return {};
    list += (list.empty() ? "'" : ", '") + output.name + "' " +
            toString(output.type, output.shape);
  }
  return usageError(what + " has " + std::to_string(labels.size()) +
                    " names, and no output has so many classes: " + list);
}

} // namespace sinter
