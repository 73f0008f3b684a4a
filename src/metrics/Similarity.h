//===- Similarity.h - SQNR and cosine of two tensors ----------------------===//

#ifndef SINTER_METRICS_SIMILARITY_H
#define SINTER_METRICS_SIMILARITY_H

#include "runtime/Tensor.h"

#include <optional>

namespace sinter {

/// The power of the expected signal, and of the noise.
struct SignalToNoise {
  double signal = 0, noise = 0;

  /// Adds the elements of two float tensors of one shape; those that are not
  /// finite in \p expected are skipped.
  void add(const Tensor &expected, const Tensor &got);
  /// 10 log10(signal / noise); infinite without noise. Nothing without a
  /// signal.
  std::optional<double> decibels() const;
};

/// The cosine of the angle between two vectors.
class Cosine {
public:
  /// As of SignalToNoise.
  void add(const Tensor &expected, const Tensor &got);
  /// 1 for two vectors of zeros, 0 if only one has only zeros; nothing without
  /// elements.
  std::optional<double> value() const;

private:
  double product = 0, first = 0, second = 0;
  bool hasElements = false;
};

} // namespace sinter

#endif // SINTER_METRICS_SIMILARITY_H
