//===- SampleNoise.h - what other samples' noise is at most ---------------===//

#ifndef SINTER_QUANTIZE_SAMPLENOISE_H
#define SINTER_QUANTIZE_SAMPLENOISE_H

#include <optional>
#include <vector>

namespace sinter::quantize {

/// The power of the noise of outputs, a number a sample.
class SampleNoise {
public:
  void add(double signal, double noise);

  /// The ratio of signal to noise, in dB, that other samples of the same kind
  /// have together at least, with some 90 % confidence; never more than the
  /// ratio of these samples. Noise is taken to be log-normal, whose mean lies
  /// above its median by half of its variance; the margin is that of G. H. Zhou
  /// and S. Gao, "Confidence intervals for the log-normal mean", 1997 (Cox's
  /// method), with the 95 % quantiles of Student's distribution: of few samples
  /// that differ by much it holds in fewer cases than these say. Infinite where
  /// nothing is off; nothing where there is no signal, or fewer than two
  /// samples, which tell nothing of how others differ.
  std::optional<double> decibelsOfOthers() const;

private:
  double signal = 0;
  std::vector<double> noise;
};

/// The 95 % quantile of Student's distribution with \p freedom (>= 1) degrees.
double studentQuantile(size_t freedom);

} // namespace sinter::quantize

#endif // SINTER_QUANTIZE_SAMPLENOISE_H
