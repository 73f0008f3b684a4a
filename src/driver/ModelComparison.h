//===- ModelComparison.h - two runs, tensor by tensor ---------------------===//
//
//     outputs     both run as they are, and outputs and states are compared
//     tensors     both run again and tell of what is on the way, as much at a
//                 time as memory can hold
//     alone       where that makes the difference go away, since what is
//                 observed is not fused: one tensor at a time, by halves
//     rewrites    the run that passes rewrite for, again with fewer steps of
//                 rewriting, by halves
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_DRIVER_MODELCOMPARISON_H
#define SINTER_DRIVER_MODELCOMPARISON_H

#include "driver/CompareMatch.h"
#include "driver/CompareReport.h"
#include "driver/CompareSide.h"
#include "runtime/MachineMemory.h"

namespace sinter::driver {

class ModelComparison {
public:
  /// What is expected comes from \p first. Both have their inputs.
  ModelComparison(CompareSide first, CompareSide second, StateOptions states,
                  const Tolerance &tolerance);
  /// What is expected are \p tensors of \p source, by name.
  ModelComparison(NamedTensors tensors, std::string source, CompareSide second,
                  StateOptions states, const Tolerance &tolerance);

  Result<void> compareOutputs();
  Result<void> compareTensors();
  /// The first pass after which they part. To be called where they do.
  Result<void> findPass();
  /// The rewrite. Likewise.
  Result<void> findStep();

  CompareReport report;
  /// Tensors on the way take so much at a time, or one does.
  uint64_t mostBytes = memoryOfMachine() / 8;

private:
  Result<void> compareWithFile();
  void compareNamed(const RunValues &got);
  std::vector<std::pair<size_t, size_t>>
  matchOutputs(const std::vector<TensorSpec> &first,
               const std::vector<TensorSpec> &second);
  bool isSameModel() const { return first->path == second.path; }
  Result<void> compareChunk(size_t begin, size_t end);
  Result<void> compareAlone();
  Result<bool> partAlone(size_t index);
  CompareSide *rewritten();
  Result<void> beginSearch();
  Result<bool> partAfter(uint64_t steps);

  /// Nothing where tensors of files are expected.
  std::optional<CompareSide> first;
  NamedTensors expected;
  CompareSide second;
  StateOptions states;

  RunFacts facts, otherFacts;
  std::vector<TensorMatch> matches;

  /// Of the search for a rewrite: what the run without it computes, the value
  /// that is looked at besides outputs, and the passes.
  RunValues reference;
  std::vector<int64_t> looked;
  RunFacts rewrites;
};

} // namespace sinter::driver

#endif // SINTER_DRIVER_MODELCOMPARISON_H
