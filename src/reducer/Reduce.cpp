//===- Reduce.cpp - the smallest program that still fails -----------------===//

#include "reducer/Reduce.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "reducer/Reductions.h"

using namespace mlir;

namespace sinter {

namespace {

class Reducer {
public:
  Reducer(Model &model, const ReduceOptions &options)
      : model(model), options(options) {}

  Result<ReduceReport> run() {
    report.operationsBefore = operationCount(model);
    if (!model.entry())
      return invalidModel(whyNoEntry(model.module()));
    if (!isInteresting(model))
      return usageError("the program itself does not fail");
    bool changed = true;
    while (changed && hasAttempts()) {
      changed = false;
      for (const Reduction &reduction : allReductions())
        changed |= reduceBy(reduction);
    }
    report.operationsAfter = operationCount(model);
    return report;
  }

private:
  bool hasAttempts() const { return report.attempts < options.mostAttempts; }

  bool isInteresting(const Model &candidate) {
    ++report.attempts;
    return options.isInteresting(candidate);
  }

  /// Tries large ranges of positions first, then smaller ones. Goes from the
  /// end, so that the indices of untried positions do not change.
  bool reduceBy(const Reduction &reduction) {
    bool changed = false;
    for (int size = reduction.places(model); size > 0; size /= 2)
      for (int end = reduction.places(model); end > 0 && hasAttempts();) {
        const int first = std::max(0, end - size);
        changed |= tryAt(reduction, first, end - first);
        end = std::min(first, reduction.places(model));
      }
    return changed;
  }

  bool tryAt(const Reduction &reduction, int first, int count) {
    Model candidate = model.clone();
    {
      ScopedDiagnosticHandler silent(model.context(),
                                     [](Diagnostic &) { return success(); });
      if (!reduction.apply(candidate, first, count))
        return false;
      removeDeadCode(candidate);
      if (failed(verify(candidate.module())))
        return false;
    }
    if (!isInteresting(candidate))
      return false;
    model = std::move(candidate);
    if (options.progress)
      options.progress(reduction.name, operationCount(model));
    return true;
  }

  Model &model;
  const ReduceOptions &options;
  ReduceReport report;
};

} // namespace

Result<ReduceReport> reduceProgram(Model &model, const ReduceOptions &options) {
  return Reducer(model, options).run();
}

} // namespace sinter
