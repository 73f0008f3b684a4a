//===- ObservedValues.h - follows values through the passes ---------------===//
//
//     number    every value of the model as it was read, in its order
//     rewrite   passes report which value replaces which
//     probe     the chosen values, by number (passes/Observe.h)
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
  /// Numbers the values of \p model if any are \p wanted.
  ObservedValues(const Model &model, const std::vector<int64_t> &wanted);

  /// For the passes; null if nothing is observed.
  ReplacementWatcher *watcher() { return wanted.empty() ? nullptr : &numbers; }

  /// Adds probes of the remaining values in \p model, and removes the numbers.
  void insertProbes(const Model &model) const;

private:
  ValueNumbers numbers;
  const std::vector<int64_t> &wanted;
};

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_OBSERVEDVALUES_H
