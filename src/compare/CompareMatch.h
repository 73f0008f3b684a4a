//===- CompareMatch.h - matches the tensors of two models -----------------===//

#ifndef SINTER_COMPARE_COMPAREMATCH_H
#define SINTER_COMPARE_COMPAREMATCH_H

#include "compare/CompareReport.h"
#include "engine/Compiler.h"

#include <vector>

namespace sinter {

struct TensorMatch {
  /// As in ValueFacts.
  int64_t first = 0, second = 0;
  MatchedBy by = MatchedBy::Model;
  const ValueFacts *facts = nullptr, *otherFacts = nullptr;
};

/// The values in two runs of one model, by their numbers; in the order of the
/// graph.
std::vector<TensorMatch> matchNumbers(const RunFacts &first,
                                      const RunFacts &second);

/// The values of two models: those of the same name; others by their source
/// node and operation, if both models have as many of them; others by the
/// operations that lead to them, or from them to the outputs. Never a result
/// into which one of the files has folded the constants of channels that follow
/// in the other. In the order of \p first.
std::vector<TensorMatch> matchValues(const RunFacts &first,
                                     const RunFacts &second);

} // namespace sinter

#endif // SINTER_COMPARE_COMPAREMATCH_H
