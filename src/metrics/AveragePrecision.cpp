//===- AveragePrecision.cpp - mean average precision of detections --------===//

#include "metrics/AveragePrecision.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sinter {

static constexpr size_t mostOfImage = 100;

static double overlapAt(int index) { return 0.5 + 0.05 * index; }

/// The true box that \p detection is matched with at \p least: the one that it
/// overlaps most of those that no better detection has; a crowd only if there
/// is none, and any number of times. Nothing if it overlaps none so much.
static std::optional<size_t>
bestMatch(const Detection &detection, const std::vector<const TrueBox *> &truth,
          const std::vector<bool> &isTaken, double least) {
  std::optional<size_t> best;
  double most = least;
  for (bool isCrowd : {false, true}) {
    for (size_t i = 0; i < truth.size(); ++i) {
      if (truth[i]->isCrowd != isCrowd || isTaken[i])
        continue;
      // Of a crowd it is a part: the union would count the others.
      const double area = detection.box.area();
      const double overlap =
          !isCrowd   ? overlapOf(detection.box, truth[i]->box)
          : area > 0 ? intersectionOf(detection.box, truth[i]->box) / area
                     : 0;
      if (overlap < most)
        continue;
      most = overlap;
      best = i;
    }
    if (best)
      return best;
  }
  return best;
}

void AveragePrecision::match(const std::vector<const Detection *> &detections,
                             const std::vector<const TrueBox *> &truth,
                             OfClass &all) const {
  for (const TrueBox *each : truth)
    if (!each->isCrowd)
      ++all.truths[images];
  const size_t first = all.detections.size();
  for (const Detection *each : detections)
    all.detections.push_back({each->score, images, all.detections.size(), {}});
  all.isSorted = false;
  for (int overlap = 0; overlap < overlaps; ++overlap) {
    std::vector<bool> isTaken(truth.size());
    for (size_t i = 0; i < detections.size(); ++i) {
      const auto found =
          bestMatch(*detections[i], truth, isTaken, overlapAt(overlap));
      Outcome &outcome = all.detections[first + i].outcomes[overlap];
      if (!found)
        continue;
      const bool isCrowd = truth[*found]->isCrowd;
      outcome = isCrowd ? Outcome::Ignored : Outcome::Right;
      if (!isCrowd)
        isTaken[*found] = true;
    }
  }
}

void AveragePrecision::add(std::vector<Detection> detections,
                           const std::vector<TrueBox> &truth) {
  sortByScore(detections);
  std::map<int64_t, std::vector<const Detection *>> found;
  std::map<int64_t, std::vector<const TrueBox *>> wanted;
  for (const Detection &each : detections)
    if (auto &own = found[each.label]; own.size() < mostOfImage)
      own.push_back(&each);
  for (const TrueBox &each : truth)
    wanted[each.label].push_back(&each);
  for (const auto &[label, own] : found)
    match(own, wanted[label], classes[label]);
  for (const auto &[label, own] : wanted)
    if (!found.contains(label))
      match({}, own, classes[label]);
  ++images;
}

/// The mean of the greatest precision at each recall of 0, 0.01, ... 1 or more.
double AveragePrecision::precision(const OfClass &all, int overlap,
                                   std::span<const uint32_t> times) {
  double wanted = 0;
  for (const auto &[image, count] : all.truths)
    wanted += count * (times.empty() ? 1 : times[image]);
  if (wanted == 0)
    return std::numeric_limits<double>::quiet_NaN();
  if (!all.isSorted)
    std::ranges::sort(all.detections, [](const Scored &a, const Scored &b) {
      return std::pair(-a.score, a.number) < std::pair(-b.score, b.number);
    });
  all.isSorted = true;
  std::vector<double> recalls, precisions;
  double right = 0, wrong = 0;
  for (const Scored &each : all.detections) {
    const double count = times.empty() ? 1 : times[each.image];
    if (count == 0 || each.outcomes[overlap] == Outcome::Ignored)
      continue;
    (each.outcomes[overlap] == Outcome::Right ? right : wrong) += count;
    recalls.push_back(right / wanted);
    precisions.push_back(right / (right + wrong));
  }
  for (size_t i = precisions.size(); i-- > 1;)
    precisions[i - 1] = std::max(precisions[i - 1], precisions[i]);
  constexpr int points = 101;
  double sum = 0;
  for (int i = 0; i < points; ++i) {
    const auto at = std::ranges::lower_bound(recalls, i / 100.0);
    if (at != recalls.end())
      sum += precisions[at - recalls.begin()];
  }
  return sum / points;
}

double AveragePrecision::mean(int firstOverlap, int endOverlap,
                              std::span<const uint32_t> times) const {
  double sum = 0, count = 0;
  for (const auto &[label, all] : classes)
    for (int overlap = firstOverlap; overlap < endOverlap; ++overlap)
      if (const double each = precision(all, overlap, times);
          !std::isnan(each)) {
        sum += each;
        ++count;
      }
  return count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN();
}

double AveragePrecision::valueOver(std::span<const uint32_t> times) const {
  return mean(0, overlaps, times);
}

double AveragePrecision::atHalf() const { return mean(0, 1, {}); }

std::map<int64_t, double> AveragePrecision::ofClasses() const {
  std::map<int64_t, double> result;
  for (const auto &[label, all] : classes) {
    double sum = 0;
    for (int overlap = 0; overlap < overlaps; ++overlap)
      sum += precision(all, overlap, {});
    if (!std::isnan(sum))
      result[label] = sum / overlaps;
  }
  return result;
}

} // namespace sinter
