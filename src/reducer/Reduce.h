//===- Reduce.h - the smallest program that still fails -------------------===//
//
// Delta debugging over the graph: a table of reductions (fewer results, an
// earlier value as the result, an operation replaced by an input, smaller
// dimensions, ...), each tried at every position on a copy of the program and
// kept where the copy still verifies and is still interesting, until no
// reduction helps. After Zeller and Hildebrandt, "Simplifying and isolating
// failure-inducing input" (2002), with reductions that know the graph.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_REDUCER_REDUCE_H
#define SINTER_REDUCER_REDUCE_H

#include "graph/Model.h"
#include "runtime/Result.h"

#include <functional>
#include <string>

namespace sinter {

struct ReduceOptions {
  /// Whether a program still has the property in question.
  std::function<bool(const Model &)> isInteresting;
  /// Called after each reduction that was kept.
  std::function<void(const std::string &reduction, int operations)> progress;
  /// The reduction ends after so many programs were tried.
  int mostAttempts = 20000;
};

struct ReduceReport {
  int attempts = 0;
  /// Operations of all functions, terminators not counted.
  int operationsBefore = 0, operationsAfter = 0;
};

/// Replaces \p model by the smallest program found. Errors: Usage where the
/// model itself is not interesting, InvalidModel where it has no entry
/// function.
Result<ReduceReport> reduceProgram(Model &model, const ReduceOptions &options);

} // namespace sinter

#endif // SINTER_REDUCER_REDUCE_H
