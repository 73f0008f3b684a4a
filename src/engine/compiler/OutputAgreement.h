//===- OutputAgreement.h - how far a model's outputs are from another's ---===//

#ifndef SINTER_ENGINE_COMPILER_OUTPUTAGREEMENT_H
#define SINTER_ENGINE_COMPILER_OUTPUTAGREEMENT_H

#include "quantize/ChangedAnswers.h"
#include "quantize/SampleNoise.h"
#include "runtime/Tensor.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace sinter {

/// The power of what should be, and of how far it is off.
struct SignalToNoise {
  double signal = 0, noise = 0;

  /// Adds up the elements of two tensors of floats of one shape; those that are
  /// not finite in \p expected count for nothing.
  void add(const Tensor &expected, const Tensor &got);
  /// 10 log10(signal / noise); infinite where nothing is off. Nothing where
  /// there is no signal.
  std::optional<double> decibels() const;
};

/// How many classes the first of \p outputs that holds scores tells apart;
/// nothing where none does.
std::optional<int64_t> classesIn(const std::vector<Tensor> &outputs);

/// Told of the outputs of two models on one sample after the other.
class OutputAgreement {
public:
  /// \p label: the right class, or a negative number.
  void add(const std::vector<Tensor> &expected, const std::vector<Tensor> &got,
           int64_t label);

  /// The mean over samples of the cosine of all outputs.
  std::optional<double> cosine() const;
  std::optional<double> decibels() const { return power.decibels(); }
  /// What other samples have at least, with 90 % confidence.
  std::optional<double> decibelsOfOthers() const {
    return noise.decibelsOfOthers();
  }
  /// The part of rows of scores with the same greatest one.
  std::optional<double> agreement() const;
  /// The part of samples of which the class is the right one, in each model.
  std::optional<double> accuracyBefore() const { return part(rightBefore); }
  std::optional<double> accuracyAfter() const { return part(rightAfter); }
  /// Of the samples whose class is known, which answers changed.
  const quantize::ChangedAnswers &changed() const { return answers; }

private:
  std::optional<double> part(uint64_t right) const;

  SignalToNoise power;
  quantize::SampleNoise noise;
  quantize::ChangedAnswers answers;
  double cosines = 0;
  uint64_t samples = 0, rows = 0, same = 0, rightBefore = 0, rightAfter = 0;
};

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_OUTPUTAGREEMENT_H
