//===- ObservedValues.h - values on the way, through the passes -----------===//
//
//     number    every value of the model as it was read, in its order
//     rewrite   the passes say which value takes which one's place
//     probe     the chosen numbers, where they ended up (passes/Observe.h)
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_ENGINE_COMPILER_OBSERVEDVALUES_H
#define SINTER_ENGINE_COMPILER_OBSERVEDVALUES_H

#include "graph/Model.h"
#include "passes/ValueNumbers.h"

#include <vector>

namespace sinter {

class ObservedValues {
public:
  /// Numbers the values of \p model where any are \p wanted.
  ObservedValues(const Model &model, const std::vector<int64_t> &wanted);

  /// For the passes; null where nothing is observed.
  ReplacementWatcher *watcher() { return wanted.empty() ? nullptr : &numbers; }

  /// Probes those that are left in \p model, and takes the numbers away.
  void insertProbes(const Model &model) const;

private:
  ValueNumbers numbers;
  const std::vector<int64_t> &wanted;
};

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_OBSERVEDVALUES_H
