//===- AveragePrecision.h - mean average precision of detections ----------===//

#ifndef SINTER_METRICS_AVERAGEPRECISION_H
#define SINTER_METRICS_AVERAGEPRECISION_H

#include "metrics/Boxes.h"
#include "metrics/SampleMetric.h"

#include <map>
#include <vector>

namespace sinter {

/// The mean average precision of COCO's evaluation: over the overlaps 0.5,
/// 0.55, ... 0.95 and the classes of the truth, the mean of the precision at
/// 101 recalls. Of each image the 100 detections with the greatest scores of
/// each class count.
class AveragePrecision : public SampleMetric {
public:
  /// Of one image. Detections whose score is NaN are none.
  void add(std::vector<Detection> detections,
           const std::vector<TrueBox> &truth);

  /// The same at the overlap 0.5 alone.
  double atHalf() const;
  /// By class, for those of the truth.
  std::map<int64_t, double> ofClasses() const;

  size_t samples() const override { return images; }
  double valueOver(std::span<const uint32_t> times) const override;

private:
  static constexpr int overlaps = 10;
  /// A detection, and at each overlap whether it is right, wrong, or counts for
  /// nothing.
  enum class Outcome : uint8_t { Wrong, Right, Ignored };
  struct Scored {
    double score;
    size_t image;
    /// In the order of images and scores.
    size_t number;
    Outcome outcomes[overlaps];
  };
  struct OfClass {
    /// Sorted by score when they are used, equal ones in the order of images.
    mutable std::vector<Scored> detections;
    mutable bool isSorted = false;
    /// The number of true boxes by image.
    std::map<size_t, double> truths;
  };
  unsigned resamples() const override { return 200; }
  static double precision(const OfClass &all, int overlap,
                          std::span<const uint32_t> times);
  double mean(int firstOverlap, int endOverlap,
              std::span<const uint32_t> times) const;
  void match(const std::vector<const Detection *> &detections,
             const std::vector<const TrueBox *> &truth, OfClass &all) const;

  std::map<int64_t, OfClass> classes;
  size_t images = 0;
};

} // namespace sinter

#endif // SINTER_METRICS_AVERAGEPRECISION_H
