//===- OutputAgreement.cpp - how far outputs are from another's -----------===//

#include "engine/compiler/OutputAgreement.h"

#include "metrics/ClassScores.h"

namespace sinter {

std::optional<int64_t> classesIn(const std::vector<Tensor> &outputs) {
  for (const Tensor &each : outputs)
    if (const auto scores = ClassScores::inRows(each))
      return scores->classes();
  return std::nullopt;
}

Similarity similarityOfFloats(const Tensor &expected, const Tensor &got) {
  if (!isFloat(expected.type()) || expected.shape() != got.shape())
    return {};
  return similarityOf(got, expected, /*ofFinite=*/true);
}

std::optional<double> decibelsOf(const Similarity &similarity) {
  return similarity.signal > 0 ? std::optional(similarity.decibels())
                               : std::nullopt;
}

/// The answers in the first output that holds scores.
void OutputAgreement::addAnswers(const std::vector<Tensor> &expected,
                                 const std::vector<Tensor> &got,
                                 int64_t label) {
  for (size_t i = 0; i < expected.size(); ++i) {
    const auto before = ClassScores::inRows(expected[i]),
               after = ClassScores::inRows(got[i]);
    if (!before || !after || expected[i].shape() != got[i].shape())
      continue;
    for (int64_t row = 0; row < before->rows(); ++row) {
      if (before->hasNaN(row))
        continue;
      const int64_t was = before->top(row), is = after->top(row);
      ++rows;
      same += was == is;
      if (row == 0 && label >= 0) {
        answers.add(was == label, is == label);
        rightBefore += was == label;
        rightAfter += is == label;
      }
    }
    return;
  }
}

void OutputAgreement::add(const std::vector<Tensor> &expected,
                          const std::vector<Tensor> &got, int64_t label) {
  Similarity ofSample;
  for (size_t i = 0; i < expected.size(); ++i)
    ofSample.add(similarityOfFloats(expected[i], got[i]));
  addAnswers(expected, got, label);
  power.add(ofSample);
  // Outputs without finite elements have no SQNR.
  if (ofSample.elements == 0)
    return;
  noise.add(ofSample.signal, ofSample.noise);
  ++samples;
  cosines += ofSample.cosine();
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
