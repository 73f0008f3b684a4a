//===- BoxSuppression.cpp - boxes that overlap with no better one ---------===//

#include "runtime/BoxSuppression.h"

#include <algorithm>
#include <vector>

namespace sinter {

namespace {

struct Box {
  float low[2], high[2];
  float area;
};

/// The least and the greatest of two; what is not a number stays.
float least(float a, float b) { return a != a || a < b ? a : b; }
float greatest(float a, float b) { return a != a || a > b ? a : b; }

Box boxOf(const Tensor &boxes, int64_t number, bool isCentred) {
  float part[4];
  for (int64_t i = 0; i < 4; ++i)
    part[i] = boxes.at<float>(4 * number + i);
  Box box;
  for (int d = 0; d < 2; ++d) {
    const float first = part[d], second = part[d + 2];
    box.low[d] = isCentred ? first - second / 2 : least(first, second);
    box.high[d] = isCentred ? first + second / 2 : greatest(first, second);
  }
  box.area = (box.high[0] - box.low[0]) * (box.high[1] - box.low[1]);
  return box;
}

bool overlap(const Box &one, const Box &other, float threshold) {
  float intersection = 1;
  for (int d = 0; d < 2; ++d)
    intersection *= greatest(least(one.high[d], other.high[d]) -
                                 greatest(one.low[d], other.low[d]),
                             0);
  const float joined = one.area + other.area - intersection;
  return intersection / joined > threshold && joined > 0;
}

} // namespace

bool suppressBoxes(const Tensor &boxes, const Tensor &scores,
                   const BoxSuppression &how,
                   const std::function<void(std::array<int64_t, 3>)> &take) {
  if (boxes.type() != ElementType::F32 || scores.type() != ElementType::F32 ||
      boxes.rank() != 3 || scores.rank() != 3 || boxes.dim(2) != 4 ||
      boxes.dim(0) != scores.dim(0) || boxes.dim(1) != scores.dim(2))
    return false;
  const int64_t classes = scores.dim(1), count = scores.dim(2);
  std::vector<std::pair<float, int64_t>> candidates;
  std::vector<Box> taken;
  for (int64_t batch = 0; batch < scores.dim(0); ++batch)
    for (int64_t kind = 0; kind < classes; ++kind) {
      candidates.clear();
      taken.clear();
      for (int64_t i = 0; i < count; ++i) {
        const float score =
            scores.at<float>((batch * classes + kind) * count + i);
        if (how.scoreThreshold ? score > *how.scoreThreshold : score == score)
          candidates.push_back({score, i});
      }
      std::ranges::stable_sort(candidates, std::greater<float>(),
                               &std::pair<float, int64_t>::first);
      for (const auto &[score, i] : candidates) {
        if (static_cast<int64_t>(taken.size()) >= how.most)
          break;
        const Box box = boxOf(boxes, batch * count + i, how.isCentred);
        if (std::ranges::any_of(taken, [&](const Box &before) {
              return overlap(before, box, how.iouThreshold);
            }))
          continue;
        taken.push_back(box);
        take({batch, kind, i});
      }
    }
  return true;
}

} // namespace sinter
