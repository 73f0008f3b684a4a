//===- OutputAgreement.cpp - how far outputs are from another's -----------===//

#include "engine/compiler/OutputAgreement.h"

#include <cmath>
#include <limits>

namespace sinter {

void SignalToNoise::add(const Tensor &expected, const Tensor &got) {
  if (!isFloat(expected.type()) || expected.shape() != got.shape())
    return;
  for (int64_t i = 0; i < expected.size(); ++i) {
    const double want = expected.toDouble(i), have = got.toDouble(i);
    if (!std::isfinite(want))
      continue;
    signal += want * want;
    noise += (want - have) * (want - have);
  }
}

std::optional<double> SignalToNoise::decibels() const {
  if (!(signal > 0))
    return std::nullopt;
  if (noise == 0)
    return std::numeric_limits<double>::infinity();
  return 10 * std::log10(signal / noise);
}

/// The rows of a tensor of scores: one score per class in each row.
static bool isScores(const Tensor &tensor) {
  return isFloat(tensor.type()) && tensor.rank() >= 1 &&
         tensor.dim(tensor.rank() - 1) > 1;
}

std::optional<int64_t> classesIn(const std::vector<Tensor> &outputs) {
  for (const Tensor &each : outputs)
    if (isScores(each))
      return each.dim(each.rank() - 1);
  return std::nullopt;
}

/// Whether a row has NaN among its scores: it has no top class then.
static bool hasNaN(const Tensor &scores, int64_t row) {
  const int64_t classes = scores.dim(scores.rank() - 1);
  for (int64_t i = 0; i < classes; ++i)
    if (std::isnan(scores.toDouble(row * classes + i)))
      return true;
  return false;
}

static int64_t greatestOf(const Tensor &scores, int64_t row) {
  const int64_t classes = scores.dim(scores.rank() - 1);
  int64_t best = 0;
  for (int64_t i = 1; i < classes; ++i)
    if (scores.toDouble(row * classes + i) >
        scores.toDouble(row * classes + best))
      best = i;
  return best;
}

void OutputAgreement::add(const std::vector<Tensor> &expected,
                          const std::vector<Tensor> &got, int64_t label) {
  double product = 0, first = 0, second = 0;
  bool hasNumbers = false;
  bool hasScores = false;
  SignalToNoise ofSample;
  for (size_t i = 0; i < expected.size(); ++i) {
    ofSample.add(expected[i], got[i]);
    if (!isFloat(expected[i].type()) || expected[i].shape() != got[i].shape())
      continue;
    for (int64_t k = 0; k < expected[i].size(); ++k) {
      const double a = expected[i].toDouble(k), b = got[i].toDouble(k);
      if (!std::isfinite(a))
        continue;
      hasNumbers = true;
      product += a * b;
      first += a * a;
      second += b * b;
    }
    if (hasScores || !isScores(expected[i]))
      continue;
    hasScores = true;
    const int64_t count =
        expected[i].size() / expected[i].dim(expected[i].rank() - 1);
    for (int64_t row = 0; row < count; ++row) {
      if (hasNaN(expected[i], row))
        continue;
      const int64_t before = greatestOf(expected[i], row),
                    after = greatestOf(got[i], row);
      ++rows;
      same += before == after;
      if (row == 0 && label >= 0) {
        answers.add(before == label, after == label);
        rightBefore += before == label;
        rightAfter += after == label;
      }
    }
  }
  power.signal += ofSample.signal;
  power.noise += ofSample.noise;
  // Outputs without finite elements have no SQNR.
  if (!hasNumbers)
    return;
  noise.add(ofSample.signal, ofSample.noise);
  ++samples;
  cosines += first > 0 && second > 0 ? product / std::sqrt(first * second)
                                     : (first == second ? 1 : 0);
}

std::optional<double> OutputAgreement::cosine() const {
  return samples ? std::optional(cosines / static_cast<double>(samples))
                 : std::nullopt;
}

std::optional<double> OutputAgreement::agreement() const {
  return rows ? std::optional(static_cast<double>(same) /
                              static_cast<double>(rows))
              : std::nullopt;
}

std::optional<double> OutputAgreement::part(uint64_t right) const {
  return answers.samples()
             ? std::optional(static_cast<double>(right) /
                             static_cast<double>(answers.samples()))
             : std::nullopt;
}

} // namespace sinter
