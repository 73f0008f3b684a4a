//===- BranchSearch.cpp - decides which branches a graph assumes ----------===//

#include "engine/compiler/BranchSearch.h"

namespace sinter {

std::optional<bool> BranchSearch::decide(const std::string &place) {
  if (!known)
    known = askKnown();
  const auto taken = known->find(place);
  if (taken == known->end() && !mayChoose)
    return std::nullopt;
  decides = true;
  if (taken != known->end())
    return taken->second;
  if (next == chosen.size())
    chosen.push_back(true);
  return chosen[next++];
}

Result<Model> BranchSearch::read(ModelFile &file, ReadOptions options) {
  constexpr unsigned mostReadings = 64;
  options.branches.decide = [this](const std::string &place) {
    return decide(place);
  };
  for (unsigned readings = 1;; ++readings) {
    next = 0;
    decides = false;
    Result<Model> model = file.read(options);
    if (model || chosen.empty())
      return model;
    while (!chosen.empty() && !chosen.back())
      chosen.pop_back();
    if (chosen.empty() || readings == mostReadings)
      break;
    chosen.back() = false;
  }
  mayChoose = false;
  return file.read(options);
}

} // namespace sinter
