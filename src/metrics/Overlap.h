//===- Overlap.h - intersection over union of class maps ------------------===//

#ifndef SINTER_METRICS_OVERLAP_H
#define SINTER_METRICS_OVERLAP_H

#include "metrics/SampleMetric.h"
#include "runtime/Tensor.h"

#include <vector>

namespace sinter {

/// Of each class, the pixels that prediction and truth both give it, over those
/// that either does (the Jaccard index, as the PASCAL VOC challenge counts it:
/// over all samples together); the value is the mean over classes that occur
/// in either.
class Overlap : public SampleMetric {
public:
  explicit Overlap(int64_t classes) : classes(classes) {}

  /// Two maps of as many elements, of classes of 0 to the number of classes,
  /// which were checked; where \p truth is \p ignored, nothing is counted. A
  /// predicted class outside of the range is none of them.
  void add(const Tensor &predicted, const Tensor &truth, int64_t ignored);

  /// By class; nothing for those that do not occur.
  std::vector<std::optional<double>> ofClasses() const;

  size_t samples() const override { return counts.size(); }
  double valueOver(std::span<const uint32_t> times) const override;

private:
  /// Of one class in one sample.
  struct Count {
    int64_t label = 0;
    double both = 0, either = 0;
  };
  std::vector<std::optional<double>>
  ratios(std::span<const uint32_t> times) const;

  int64_t classes;
  /// Of each sample, for the classes that occur in it.
  std::vector<std::vector<Count>> counts;
};

} // namespace sinter

#endif // SINTER_METRICS_OVERLAP_H
