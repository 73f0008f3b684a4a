//===- CompareMatch.h - which tensor of one model is which of the other ---===//

#ifndef SINTER_DRIVER_COMPAREMATCH_H
#define SINTER_DRIVER_COMPAREMATCH_H

#include "driver/CompareReport.h"
#include "engine/Compiler.h"

#include <set>
#include <string>
#include <vector>

namespace sinter::driver {

struct TensorMatch {
  /// As in ValueFacts.
  int64_t first = 0, second = 0;
  MatchedBy by = MatchedBy::Model;
  const ValueFacts *facts = nullptr, *otherFacts = nullptr;
};

/// The values that are left in two runs of one model, by their numbers; in the
/// order of the graph.
std::vector<TensorMatch> matchNumbers(const RunFacts &first,
                                      const RunFacts &second);

/// The values of two models: those of the same name; others by the node that
/// they come from and the operation, if both models have as many of them. Where
/// the models share nothing of that, by operation and type, if both have as
/// many, in their order; the names of \p outputs alone do not make them share
/// something. In the order of \p first.
std::vector<TensorMatch> matchNames(const RunFacts &first,
                                    const RunFacts &second,
                                    const std::set<std::string> &outputs);

} // namespace sinter::driver

#endif // SINTER_DRIVER_COMPAREMATCH_H
