//===- Boxes.h - boxes of detectors ---------------------------------------===//

#ifndef SINTER_METRICS_BOXES_H
#define SINTER_METRICS_BOXES_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sinter {

/// From its left and top edge to its right and bottom edge, in pixels.
struct Box {
  double left = 0, top = 0, right = 0, bottom = 0;

  double area() const;
};

/// A box that a model found.
struct Detection {
  Box box;
  double score = 0;
  int64_t label = 0;
};

/// A box of the truth. A crowd is a region with many objects: boxes in it are
/// neither right nor wrong.
struct TrueBox {
  Box box;
  int64_t label = 0;
  bool isCrowd = false;
};

/// The area of the intersection; 0 for boxes without one.
double intersectionOf(const Box &one, const Box &other);
/// The intersection over the union; 0 for two empty boxes.
double overlapOf(const Box &one, const Box &other);

/// From the greatest score, equal ones in the given order; those whose score is
/// NaN are removed.
void sortByScore(std::vector<Detection> &detections);

/// Greedy non-maximum suppression: in the order of scores, from the greatest
/// (equal ones in the given order), each that overlaps no kept box of its
/// class by more than \p mostOverlap; at most \p most. Without those whose
/// score is NaN.
std::vector<Detection> suppressed(std::vector<Detection> detections,
                                  double mostOverlap, size_t most);

} // namespace sinter

#endif // SINTER_METRICS_BOXES_H
