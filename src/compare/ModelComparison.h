//===- ModelComparison.h - compares two runs tensor by tensor -------------===//
//
//     outputs     both run unchanged, and outputs and states are compared
//     weights     those that differ, also where one file has norms folded
//     tensors     both run again and report intermediate tensors, as many at a
//                 time as fit into memory
//     alone       if the difference then vanishes, since observed tensors are
//                 not fused: one tensor at a time, by bisection
//     rewrites    the run that passes rewrite, again with fewer steps of
//                 rewriting, by bisection
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_COMPARE_MODELCOMPARISON_H
#define SINTER_COMPARE_MODELCOMPARISON_H

#include "compare/CompareMatch.h"
#include "compare/CompareReport.h"
#include "compare/CompareSide.h"
#include "runtime/MachineMemory.h"

namespace sinter {

/// The inputs of \p side for the sizes \p of of its dynamic dimensions.
using InputsOfSizes = std::function<Result<std::vector<Tensor>>(
    CompareSide &side, const SampleSizes &of)>;

class ModelComparison {
public:
  /// \p first is expected. Both have their inputs.
  ModelComparison(CompareSide first, CompareSide second, StateOptions states,
                  const CompareCriteria &criteria);
  /// \p tensors of \p source are expected, by name.
  ModelComparison(NamedTensors tensors, std::string source, CompareSide second,
                  StateOptions states, const CompareCriteria &criteria);

  /// Resets the comparison, for other inputs.
  void forget();
  /// Adds to the report whether they agree at \p sizes, if there are some.
  Result<void>
  compareOutputs(std::vector<std::pair<std::string, int64_t>> sizes = {});
  /// Gives the sides, if both run, inputs of all \p sizes in order and compares
  /// their outputs, up to the first sizes at which they differ; at these, or
  /// else the first ones, the rest is compared. \p inputs are those of the
  /// first side, \p note gets remarks on how the inputs match. Later sizes that
  /// both refuse become notes of the report.
  Result<void>
  compareOutputsAt(const std::vector<SampleSizes> &sizes,
                   const InputsOfSizes &inputs,
                   const std::function<void(const std::string &)> &note);
  Result<void> compareTensors();
  /// The first pass after which they differ. To be called only if they do.
  Result<void> findPass();
  /// The rewrite. Likewise.
  Result<void> findStep();

  /// The sides that run: only the second if the expected tensors are from
  /// files.
  std::vector<CompareSide *> sides();

  CompareReport report;
  /// The names of options in messages.
  CompareNames names;
  /// The memory of intermediate tensors at a time, unless one is larger.
  uint64_t mostBytes = memoryOfMachine() / 8;

private:
  Result<void> giveInputs(const SampleSizes &of, const InputsOfSizes &inputs,
                          const std::function<void(const std::string &)> &note);
  Result<void> chooseCriteria();
  Result<void> compareWeights();
  Result<void> compareWithFile();
  Result<std::pair<RunValues, RunValues>> runBoth();
  void compareNamed(const RunValues &got);
  std::vector<std::pair<size_t, size_t>>
  matchOutputs(const std::vector<TensorSpec> &first,
               const std::vector<TensorSpec> &second);
  bool isSameModel() const { return first->path == second.path; }
  Result<void> compareChunk(size_t begin, size_t end);
  Result<void> compareAlone();
  Result<bool> differAlone(size_t index);
  CompareSide *rewritten();
  Result<void> beginSearch();
  Result<bool> differAfter(uint64_t steps);

  /// Nothing if the expected tensors are from files.
  std::optional<CompareSide> first;
  NamedTensors expected;
  CompareSide second;
  StateOptions states;

  /// Whether one of two models alone is quantised; nothing: nobody looked.
  std::optional<bool> isOneQuantized;
  RunFacts facts, otherFacts;
  std::vector<TensorMatch> matches;

  /// For the search of a rewrite: the results without it, the value that is
  /// observed besides outputs, and the passes.
  RunValues reference;
  std::vector<int64_t> looked;
  RunFacts rewrites;
};

} // namespace sinter

#endif // SINTER_COMPARE_MODELCOMPARISON_H
