//===- ClassScores.cpp - scores of classes --------------------------------===//

#include "metrics/ClassScores.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sinter {

ClassScores::ClassScores(Tensor scores, int64_t axis)
    : tensor(std::move(scores)), count(tensor.dim(axis)) {
  for (int64_t i = 0; i < tensor.rank(); ++i)
    if (i != axis)
      (i < axis ? outer : inner) *= tensor.dim(i);
}

std::optional<ClassScores> ClassScores::inRows(const Tensor &scores) {
  int64_t axis = scores.rank() - 1;
  while (axis > 1 && scores.dim(axis) == 1)
    --axis;
  if (axis < 0 || !isFloat(scores.type()) || scores.dim(axis) < 2)
    return std::nullopt;
  return ClassScores(scores, axis);
}

/// \p shape without dimensions of 1 at its end, but for the first one.
static Shape withoutTail(Shape shape) {
  while (shape.size() > 1 && shape.back() == 1)
    shape.pop_back();
  return shape;
}

std::optional<ClassScores> ClassScores::forLabels(const Tensor &scores,
                                                  const Shape &labels) {
  if (!isFloat(scores.type()))
    return std::nullopt;
  const Shape wanted = withoutTail(labels);
  for (int64_t axis : {int64_t(1), scores.rank() - 1}) {
    if (axis < 1 || axis >= scores.rank())
      continue;
    Shape rest = scores.shape();
    rest.erase(rest.begin() + axis);
    if (withoutTail(rest) == wanted && scores.dim(axis) > 1)
      return ClassScores(scores, axis);
  }
  return std::nullopt;
}

bool ClassScores::hasNaN(int64_t row) const {
  for (int64_t i = 0; i < count; ++i)
    if (std::isnan(score(row, i)))
      return true;
  return false;
}

int64_t ClassScores::top(int64_t row) const {
  int64_t best = 0;
  double greatest = score(row, 0);
  for (int64_t i = 1; i < count; ++i)
    if (const double each = score(row, i); each > greatest) {
      best = i;
      greatest = each;
    }
  return best;
}

int64_t ClassScores::rankOf(int64_t row, int64_t label) const {
  const double own = score(row, label);
  int64_t before = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double each = score(row, i);
    if (std::isnan(each))
      return count;
    before += each > own || (each == own && i < label);
  }
  return before;
}

static bool areDistribution(const std::vector<double> &values) {
  constexpr double tolerance = 1e-3;
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return std::ranges::all_of(values, [](double each) { return each >= 0; }) &&
         std::abs(sum - 1) < tolerance;
}

bool ClassScores::isDistribution(int64_t row) const {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(score(row, i));
  return areDistribution(values);
}

void toProbabilities(std::vector<double> &values) {
  if (values.empty() || areDistribution(values))
    return;
  const double largest = std::ranges::max(values);
  double total = 0;
  for (double &value : values)
    total += value = std::exp(value - largest);
  for (double &value : values)
    value /= total;
}

std::vector<double> ClassScores::probabilities(int64_t row) const {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(score(row, i));
  toProbabilities(values);
  return values;
}

double ClassScores::logLoss(int64_t row, int64_t label,
                            bool areProbabilities) const {
  const double own = score(row, label);
  if (areProbabilities)
    return -std::log(own);
  double largest = own;
  for (int64_t i = 0; i < count; ++i)
    largest = std::max(largest, score(row, i));
  double sum = 0;
  for (int64_t i = 0; i < count; ++i)
    sum += std::exp(score(row, i) - largest);
  return std::log(sum) + largest - own;
}

} // namespace sinter
