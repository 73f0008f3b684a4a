//===- ChangedAnswers.h - what accuracy other samples lose at most --------===//

#ifndef SINTER_QUANTIZE_CHANGEDANSWERS_H
#define SINTER_QUANTIZE_CHANGEDANSWERS_H

#include <cstdint>
#include <optional>

namespace sinter::quantize {

/// Of samples whose right class is known, how many of the answers of two models
/// changed from right to wrong, and from wrong to right.
class ChangedAnswers {
public:
  void add(bool wasRight, bool isRight);

  uint64_t samples() const { return count; }
  uint64_t lost() const { return toWrong; }
  uint64_t gained() const { return toRight; }

  /// What part of other samples of the same kind is right before and not
  /// after, less what is the other way round, at most, with 90 % confidence:
  /// the difference of exact binomial bounds (C. J. Clopper and E. S. Pearson,
  /// "The use of confidence or fiducial limits", 1934), of which the upper is
  /// missed by 9 % and the lower by 1 %. Never less than what these samples
  /// lose; nothing without samples.
  std::optional<double> lossOfOthers() const;
  /// The fewest samples that can tell that no more than \p part is lost, which
  /// they do if no answer changes; the largest number for a part of 0.
  static uint64_t samplesFor(double part);

private:
  uint64_t count = 0, toWrong = 0, toRight = 0;
};

/// How probable a kind is at most of which \p found of \p count samples are,
/// with a confidence of 1 - \p missed.
double upperBinomialBound(uint64_t found, uint64_t count, double missed);
/// How probable it is at least.
double lowerBinomialBound(uint64_t found, uint64_t count, double missed);

} // namespace sinter::quantize

#endif // SINTER_QUANTIZE_CHANGEDANSWERS_H
