//===- OutputAgreement.h - the SQNR and accuracy of outputs ---------------===//

#ifndef SINTER_ENGINE_COMPILER_OUTPUTAGREEMENT_H
#define SINTER_ENGINE_COMPILER_OUTPUTAGREEMENT_H

#include "quantize/ChangedAnswers.h"
#include "quantize/SampleNoise.h"
#include "runtime/Comparison.h"
#include "runtime/Tensor.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace sinter {

/// The number of classes in the first of \p outputs that holds scores; nothing
/// if none does.
std::optional<int64_t> classesIn(const std::vector<Tensor> &outputs);

/// How similar \p got is to \p expected where that is a tensor of floats of the
/// same shape; else nothing was compared.
Similarity similarityOfFloats(const Tensor &expected, const Tensor &got);
/// The SQNR; nothing without a signal.
std::optional<double> decibelsOf(const Similarity &similarity);

/// Accumulates the outputs of two models, sample by sample.
class OutputAgreement {
public:
  /// \p label: the right class; negative: unknown.
  void add(const std::vector<Tensor> &expected, const std::vector<Tensor> &got,
           int64_t label);

  /// The mean cosine similarity of all outputs over samples.
  std::optional<double> cosine() const;
  std::optional<double> decibels() const { return decibelsOf(power); }
  /// The lower confidence bound (90 %) on other samples.
  std::optional<double> decibelsOfOthers() const {
    return noise.decibelsOfOthers();
  }
  /// The fraction of rows of scores with the same top class.
  std::optional<double> agreement() const;
  /// The accuracy of each model.
  std::optional<double> accuracyBefore() const { return part(rightBefore); }
  std::optional<double> accuracyAfter() const { return part(rightAfter); }
  /// The samples of known class whose answer changed.
  const quantize::ChangedAnswers &changed() const { return answers; }

private:
  void addAnswers(const std::vector<Tensor> &expected,
                  const std::vector<Tensor> &got, int64_t label);
  std::optional<double> part(uint64_t right) const;

  Similarity power;
  quantize::SampleNoise noise;
  quantize::ChangedAnswers answers;
  double cosines = 0;
  uint64_t samples = 0, rows = 0, same = 0, rightBefore = 0, rightAfter = 0;
};

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_OUTPUTAGREEMENT_H
