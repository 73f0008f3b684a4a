//===- Suggestions.cpp - what a wrong name may stand for ------------------===//

#include "runtime/Suggestions.h"

#include <algorithm>
#include <vector>

namespace sinter {

/// The Levenshtein distance from \p a to \p b.
static size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::string nearMiss(std::string_view text,
                     std::span<const std::string> candidates) {
  // Names in a model may be of any length.
  constexpr size_t longest = 200;
  std::string best;
  size_t bestDistance = std::max<size_t>(text.size() / 3, 2) + 1;
  if (text.size() > longest)
    return best;
  for (const std::string &candidate : candidates) {
    if (candidate.size() > longest)
      continue;
    const size_t distance = editDistance(text, candidate);
    if (distance < bestDistance && distance < candidate.size()) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

std::string didYouMean(std::string_view text,
                       std::span<const std::string> candidates) {
  const std::string best = nearMiss(text, candidates);
  return best.empty() ? "" : "did you mean '" + best + "'?";
}

std::string suggestion(std::string_view text,
                       std::span<const std::string> candidates) {
  const std::string close = didYouMean(text, candidates);
  return close.empty() ? "there are " + quotedList(candidates) : close;
}

std::string quotedList(std::span<const std::string> names) {
  constexpr size_t most = 20;
  std::string text;
  for (size_t i = 0; i < names.size() && i < most; ++i) {
    if (i)
      text += i + 1 == names.size() ? " and " : ", ";
    text += "'" + names[i] + "'";
  }
  if (names.size() > most)
    text += ", ...";
  return text.empty() ? "none" : text;
}

} // namespace sinter
