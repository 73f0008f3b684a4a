//===- ChangedAnswers.h - upper bound of the loss of accuracy -------------===//

#ifndef SINTER_QUANTIZE_CHANGEDANSWERS_H
#define SINTER_QUANTIZE_CHANGEDANSWERS_H

#include <cstdint>
#include <optional>

namespace sinter::quantize {

/// Counts, over labelled samples, how many answers of two models changed from
/// right to wrong, and from wrong to right.
class ChangedAnswers {
public:
  void add(bool wasRight, bool isRight);

  uint64_t samples() const { return count; }
  uint64_t lost() const { return toWrong; }
  uint64_t gained() const { return toRight; }

  /// An upper bound, with 90 % confidence, of the loss of accuracy on unseen
  /// samples of the same distribution, as a fraction of 1: the difference of
  /// exact binomial bounds (C. J. Clopper and E. S. Pearson, "The use of
  /// confidence or fiducial limits", 1934), of which the upper is missed in 9 %
  /// and the lower in 1 % of cases. Never less than the loss on these samples;
  /// nothing without samples.
  std::optional<double> lossOfOthers() const;
  /// The fewest samples that can prove a loss of at most \p part, which they do
  /// if no answer changes; the largest integer for 0.
  static uint64_t samplesFor(double part);

private:
  uint64_t count = 0, toWrong = 0, toRight = 0;
};

} // namespace sinter::quantize

#endif // SINTER_QUANTIZE_CHANGEDANSWERS_H
