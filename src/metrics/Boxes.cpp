//===- Boxes.cpp - boxes of detectors -------------------------------------===//

#include "metrics/Boxes.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace sinter {

double Box::area() const {
  return std::max(right - left, 0.0) * std::max(bottom - top, 0.0);
}

double intersectionOf(const Box &one, const Box &other) {
  return Box{std::max(one.left, other.left), std::max(one.top, other.top),
             std::min(one.right, other.right),
             std::min(one.bottom, other.bottom)}
      .area();
}

double overlapOf(const Box &one, const Box &other) {
  const double both = intersectionOf(one, other);
  const double either = one.area() + other.area() - both;
  return either > 0 ? both / either : 0;
}

/// By indices, as std::stable_sort uses what C++17 has deprecated.
void sortByScore(std::vector<Detection> &detections) {
  std::vector<size_t> order;
  for (size_t i = 0; i < detections.size(); ++i)
    if (!std::isnan(detections[i].score))
      order.push_back(i);
  std::ranges::sort(order, [&](size_t a, size_t b) {
    return detections[a].score != detections[b].score
               ? detections[a].score > detections[b].score
               : a < b;
  });
  std::vector<Detection> sorted;
  for (size_t index : order)
    sorted.push_back(detections[index]);
  detections = std::move(sorted);
}

std::vector<Detection> suppressed(std::vector<Detection> detections,
                                  double mostOverlap, size_t most) {
  sortByScore(detections);
  std::vector<Detection> kept;
  std::map<int64_t, std::vector<Box>> byClass;
  for (const Detection &each : detections) {
    if (kept.size() >= most)
      break;
    std::vector<Box> &others = byClass[each.label];
    // No overlap exceeds 1.
    if (mostOverlap < 1 && std::ranges::any_of(
                               others,
                               [&](const Box &box) {
                                 return overlapOf(box, each.box) > mostOverlap;
                               }))
      continue;
    others.push_back(each.box);
    kept.push_back(each);
  }
  return kept;
}

} // namespace sinter
