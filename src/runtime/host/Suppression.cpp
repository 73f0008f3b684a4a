//===- Suppression.cpp - non-maximum suppression, as a host function ------===//

#include "runtime/OutOfMemory.h"
#include "runtime/host/Builtin.h"

#include <algorithm>
#include <array>
#include <vector>

namespace sinter::host {

namespace {

/// Boxes as arrays, one for each property.
struct Boxes {
  std::vector<float> low[2], high[2], area;

  void reserve(size_t count) {
    for (std::vector<float> *each :
         {&low[0], &low[1], &high[0], &high[1], &area})
      each->reserve(count);
  }
  void clear() {
    for (std::vector<float> *each :
         {&low[0], &low[1], &high[0], &high[1], &area})
      each->clear();
  }
  size_t size() const { return area.size(); }
  void add(const std::array<float, 2> &from, const std::array<float, 2> &to) {
    for (int d : {0, 1}) {
      low[d].push_back(from[d]);
      high[d].push_back(to[d]);
    }
    area.push_back((to[0] - from[0]) * (to[1] - from[1]));
  }
  void add(const Boxes &others, size_t i) {
    for (int d : {0, 1}) {
      low[d].push_back(others.low[d][i]);
      high[d].push_back(others.high[d][i]);
    }
    area.push_back(others.area[i]);
  }
  /// Whether the intersection over union of box \p i of \p others and one of
  /// these exceeds \p most.
  bool strike(const Boxes &others, size_t i, float most) const {
    // This many are compared between checks of the result.
    constexpr size_t atOnce = 32;
    const float low0 = others.low[0][i], low1 = others.low[1][i],
                high0 = others.high[0][i], high1 = others.high[1][i],
                own = others.area[i];
    for (size_t begin = 0; begin < size(); begin += atOnce) {
      const size_t end = std::min(size(), begin + atOnce);
      bool found = false;
      for (size_t j = begin; j < end; ++j) {
        const float along0 = std::max(
            std::min(high[0][j], high0) - std::max(low[0][j], low0), 0.0F);
        const float along1 = std::max(
            std::min(high[1][j], high1) - std::max(low[1][j], low1), 0.0F);
        const float common = along0 * along1;
        const float joined = area[j] + own - common;
        found |= (common / joined > most) & (joined > 0.0F);
      }
      if (found)
        return true;
    }
    return false;
  }
};

/// A candidate box.
struct Candidate {
  float score;
  int64_t box;

  /// The order of a heap with the best box on top: of equal ones the first.
  bool operator<(const Candidate &other) const {
    return score != other.score ? score < other.score : box > other.box;
  }
};

/// The inputs, and what is found.
struct Suppression {
  const float *boxes, *scores;
  int64_t batch, classes, count, most;
  float overlap;
  const float *threshold;
  bool isCentred;
  GatheredRows &rows;

  Boxes all, standing;
  std::vector<Candidate> candidates;

  void run() {
    all.reserve(count);
    for (int64_t image = 0; image < batch; ++image) {
      readBoxes(boxes + image * count * 4);
      for (int64_t kind = 0; kind < classes; ++kind)
        suppress(image, kind, scores + (image * classes + kind) * count);
    }
  }

  void readBoxes(const float *from) {
    all.clear();
    for (const float *box = from; box != from + count * 4; box += 4) {
      std::array<float, 2> low, high;
      for (int d : {0, 1}) {
        const float half = box[d + 2] / 2;
        low[d] = isCentred ? box[d] - half : std::min(box[d], box[d + 2]);
        high[d] = isCentred ? box[d] + half : std::max(box[d], box[d + 2]);
      }
      all.add(low, high);
    }
  }

  void suppress(int64_t image, int64_t kind, const float *score) {
    candidates.clear();
    for (int64_t i = 0; i < count; ++i)
      if (threshold ? score[i] > *threshold : score[i] == score[i])
        candidates.push_back({score[i], i});
    std::make_heap(candidates.begin(), candidates.end());
    standing.clear();
    while (!candidates.empty() &&
           static_cast<int64_t>(standing.size()) < most) {
      std::pop_heap(candidates.begin(), candidates.end());
      const int64_t box = candidates.back().box;
      candidates.pop_back();
      if (standing.strike(all, box, overlap))
        continue;
      standing.add(all, box);
      const std::array<int64_t, 3> row = {image, kind, box};
      const auto *bytes = reinterpret_cast<const std::byte *>(row.data());
      rows.bytes.insert(rows.bytes.end(), bytes, bytes + sizeof(row));
      ++rows.rows;
    }
  }
};

bool isNumber(const Tensor &tensor, ElementType type) {
  return tensor.type() == type && tensor.size() == 1;
}

} // namespace

Result<void> suppress(const HostCall &call) {
  const HostConfiguration options(call.configuration);
  if (!call.lists)
    return systemError("rows are gathered in no run");
  const std::span<const Tensor> in = call.inputs;
  if (in.size() < 4 || in[0].rank() != 3 || in[1].rank() != 3 ||
      in[0].type() != ElementType::F32 || in[1].type() != ElementType::F32 ||
      !isNumber(in[2], ElementType::I64) ||
      !isNumber(in[3], ElementType::F32) ||
      (in.size() > 4 && !isNumber(in[4], ElementType::F32)))
    return invalidModel("there are no boxes and scores to suppress boxes by");
  if (in[0].dim(0) != in[1].dim(0) || in[0].dim(1) != in[1].dim(2) ||
      in[0].dim(2) != 4)
    return invalidModel("boxes are not [B, N, 4] or scores not [B, C, N]");
  GatheredRows &rows = (*call.lists)[options.number("list")];
  rows = {};
  return catchingOutOfMemory("the selected boxes", [&]() -> Result<void> {
    Suppression{.boxes = in[0].values<float>().data(),
                .scores = in[1].values<float>().data(),
                .batch = in[1].dim(0),
                .classes = in[1].dim(1),
                .count = in[1].dim(2),
                .most = in[2].at<int64_t>(0),
                .overlap = in[3].at<float>(0),
                .threshold =
                    in.size() > 4 ? in[4].values<float>().data() : nullptr,
                .isCentred = options.number("centred") != 0,
                .rows = rows,
                .all = {},
                .standing = {},
                .candidates = {}}
        .run();
    return {};
  });
}

} // namespace sinter::host
