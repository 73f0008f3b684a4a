//===- SampleNoise.h - confidence bound of the SQNR -----------------------===//

#ifndef SINTER_QUANTIZE_SAMPLENOISE_H
#define SINTER_QUANTIZE_SAMPLENOISE_H

#include <optional>
#include <vector>

namespace sinter::quantize {

/// The noise power of outputs, one value for each sample.
class SampleNoise {
public:
  void add(double signal, double noise);

  /// The lower bound, with about 90 % confidence, of the SQNR in dB over unseen
  /// samples of the same distribution; never more than the SQNR of these
  /// samples. Noise is assumed to be log-normal, whose mean lies above its
  /// median by half of its variance; the margin is that of G. H. Zhou and S.
  /// Gao, "Confidence intervals for the log-normal mean", 1997 (Cox's method),
  /// with the 95 % quantiles of Student's distribution: with few samples that
  /// differ by much the real confidence is lower. Infinite where there is no
  /// noise; nothing where there is no signal, or fewer than two samples, whose
  /// variance is unknown.
  std::optional<double> decibelsOfOthers() const;

private:
  double signal = 0;
  std::vector<double> noise;
};

} // namespace sinter::quantize

#endif // SINTER_QUANTIZE_SAMPLENOISE_H
