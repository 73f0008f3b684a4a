//===- BatchRuns.h - runs a model on many samples -------------------------===//
//
// Samples are loaded beside computing, and put together to batches as far as
// the model takes them (SampleRunner.h).
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_DATA_BATCHRUNS_H
#define SINTER_DATA_BATCHRUNS_H

#include "data/SampleRunner.h"
#include "engine/Quantize.h"

namespace sinter {

struct BatchRunOptions {
  /// How batches are formed and run; the samples' names are known.
  SampleRunnerOptions runs;
  /// Those of the samples that are run: from \p first to \p end, without that.
  size_t first = 0, end = SIZE_MAX;
  /// How many samples that cannot be read are left out at most.
  size_t mostUnreadable = 0;
  /// How many of these were left out in earlier runs.
  size_t unreadableBefore = 0;
  /// Called after each sample; may be empty.
  std::function<void(size_t done, size_t total)> progress;
  /// Gets a line for each sample that is left out; may be empty.
  std::function<void(const std::string &)> note;
  /// The name of the field in messages.
  std::string unreadableName = "mostUnreadable";
};

struct BatchRunReport {
  size_t done = 0, unreadable = 0;
  /// Samples of the largest batch.
  int64_t batch = 1;
  /// In runs alone, and in all.
  double runMs = 0, wallMs = 0;
};

/// Runs the model of \p session on \p samples, found with
/// SampleOptions::asRows, in order. Errors: Usage for a batch that the model
/// cannot have; those of a sample that cannot be loaded or run; that of \p
/// take.
Result<BatchRunReport> runBatches(Session &session, const Samples &samples,
                                  const BatchRunOptions &options,
                                  const TakeOutputs &take);

} // namespace sinter

#endif // SINTER_DATA_BATCHRUNS_H
