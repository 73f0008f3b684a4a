//===- Overlap.cpp - intersection over union of class maps ----------------===//

#include "metrics/Overlap.h"

#include <limits>
#include <map>

namespace sinter {

void Overlap::add(const Tensor &predicted, const Tensor &truth,
                  int64_t ignored) {
  std::map<int64_t, Count> found;
  const auto count = [&](int64_t label, double both) {
    if (label < 0 || label >= classes)
      return;
    Count &place = found[label];
    place.label = label;
    place.both += both;
    ++place.either;
  };
  for (int64_t i = 0; i < truth.size(); ++i) {
    const int64_t wanted = truth.toInteger(i), got = predicted.toInteger(i);
    if (wanted == ignored)
      continue;
    count(wanted, wanted == got ? 1 : 0);
    if (wanted != got)
      count(got, 0);
  }
  std::vector<Count> &own = counts.emplace_back();
  for (const auto &[label, each] : found)
    own.push_back(each);
}

std::vector<std::optional<double>>
Overlap::ratios(std::span<const uint32_t> times) const {
  std::vector<double> both(classes), either(classes);
  for (size_t i = 0; i < counts.size(); ++i) {
    const double count = times.empty() ? 1 : times[i];
    for (const Count &each : counts[i]) {
      both[each.label] += count * each.both;
      either[each.label] += count * each.either;
    }
  }
  std::vector<std::optional<double>> all(classes);
  for (int64_t i = 0; i < classes; ++i)
    if (either[i] > 0)
      all[i] = both[i] / either[i];
  return all;
}

std::vector<std::optional<double>> Overlap::ofClasses() const {
  return ratios({});
}

double Overlap::valueOver(std::span<const uint32_t> times) const {
  double sum = 0, count = 0;
  for (const std::optional<double> &each : ratios(times)) {
    sum += each.value_or(0);
    count += each.has_value();
  }
  return count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN();
}

} // namespace sinter
