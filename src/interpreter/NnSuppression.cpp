//===- NnSuppression.cpp - non-max suppression ----------------------------===//

#include "graph/nn/NnOps.h"
#include "interpreter/Evaluation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

using namespace mlir;

namespace sinter::interpreter {

namespace {
/// In f32, for which thresholds were chosen.
struct Box {
  std::array<float, 2> low, high;

  static Box of(const float *from, bool isCentred) {
    Box box;
    for (int d : {0, 1}) {
      const float half = from[d + 2] / 2;
      box.low[d] = isCentred ? from[d] - half : std::min(from[d], from[d + 2]);
      box.high[d] = isCentred ? from[d] + half : std::max(from[d], from[d + 2]);
    }
    return box;
  }
  float area() const { return (high[0] - low[0]) * (high[1] - low[1]); }

  bool overlaps(const Box &other, float threshold) const {
    float common = 1;
    for (int d : {0, 1})
      common *= std::max(std::min(high[d], other.high[d]) -
                             std::max(low[d], other.low[d]),
                         0.0F);
    const float unionArea = area() + other.area() - common;
    return unionArea > 0 && common / unionArea > threshold;
  }
};
} // namespace

static Result<Tensors> evaluateNonMaxSuppression(const Call &call) {
  auto op = call.as<nn::NonMaxSuppressionOp>();
  const Tensor &boxes = call[0], &scores = call[1];
  const int64_t classes = scores.dim(1), count = scores.dim(2);
  if (boxes.dim(0) != scores.dim(0) || boxes.dim(1) != count ||
      boxes.dim(2) != 4)
    return invalidModel("boxes are not [B, N, 4] or scores not [B, C, N]");
  const auto most = call[2].at<int64_t>(0);
  const auto threshold = call[3].at<float>(0);
  std::vector<std::array<int64_t, 3>> rows;
  for (int64_t row = 0; row < scores.dim(0) * classes; ++row) {
    const int64_t image = row / classes;
    auto scoreOf = [&](int64_t i) { return scores.at<float>(row * count + i); };
    auto boxOf = [&](int64_t i) {
      return Box::of(boxes.values<float>().data() + (image * count + i) * 4,
                     op.getCentred());
    };
    std::vector<int64_t> order(count), standing;
    std::iota(order.begin(), order.end(), 0);
    std::erase_if(order, [&](int64_t i) {
      return op.getThreshold() ? !(scoreOf(i) > call[4].at<float>(0))
                               : std::isnan(scoreOf(i));
    });
    std::ranges::stable_sort(
        order, [&](int64_t a, int64_t b) { return scoreOf(a) > scoreOf(b); });
    for (int64_t i : order) {
      const bool isStruck = std::ranges::any_of(standing, [&](int64_t other) {
        return boxOf(other).overlaps(boxOf(i), threshold);
      });
      if (isStruck || static_cast<int64_t>(standing.size()) >= most)
        continue;
      standing.push_back(i);
      rows.push_back({image, row % classes, i});
    }
  }
  return produce(ElementType::I64, {static_cast<int64_t>(rows.size()), 3},
                 [&](Tensor &result) {
                   auto to = result.mutableValues<int64_t>();
                   for (size_t i = 0; i < rows.size(); ++i)
                     std::ranges::copy(rows[i], to.begin() + i * 3);
                 });
}

void registerNnSuppression(Registry &registry) {
  registry.add<nn::NonMaxSuppressionOp>(evaluateNonMaxSuppression);
}

} // namespace sinter::interpreter
