//===- BatchRuns.h - runs a model on many samples -------------------------===//
//
// Samples are loaded beside computing, and put together to batches as far as
// the model takes them:
//
//   batch of 1              one by one
//   batch of 4              four at a time; the last batch is filled up with
//                           zeros, whose results nobody gets
//   dynamic batch           samples of one size, up to a number that is given
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_DATA_BATCHRUNS_H
#define SINTER_DATA_BATCHRUNS_H

#include "data/SampleRows.h"
#include "engine/Quantize.h"
#include "engine/Session.h"

#include <functional>

namespace sinter {

struct BatchRunOptions {
  /// Samples at a time; 0: as many as a static batch has, up to 8 for a dynamic
  /// one.
  int64_t batch = 0;
  /// Those of the samples that are run: from \p first to \p end, without that.
  size_t first = 0, end = SIZE_MAX;
  /// How many samples that cannot be read are left out at most.
  size_t mostUnreadable = 0;
  /// As those of the session.
  NamedShapes shapes;
  /// Called with the executor before the first run; may be empty.
  std::function<Result<void>(Executor &)> prepare;
  /// Called after each batch; may be empty.
  std::function<void(size_t done, size_t total)> progress;
  /// Gets a line for each sample that is left out; may be empty.
  std::function<void(const std::string &)> note;
  /// The names of the fields in messages.
  std::string batchName = "batch", unreadableName = "mostUnreadable";
};

struct BatchRunReport {
  size_t done = 0, unreadable = 0;
  /// Samples of the largest batch.
  int64_t batch = 1;
  /// In runs alone, and in all.
  double runMs = 0, wallMs = 0;
};

/// Takes the outputs of sample \p index, which are its own rows of those of a
/// batch.
using TakeOutputs =
    std::function<Result<void>(size_t index, std::vector<Tensor> outputs)>;

/// Runs the model of \p session on \p samples, found with
/// SampleOptions::asRows, in order. Errors: Usage for a batch that the model
/// cannot have; those of a sample that cannot be loaded or run; that of \p
/// take.
Result<BatchRunReport> runBatches(Session &session, const Samples &samples,
                                  const BatchRunOptions &options,
                                  const TakeOutputs &take);

} // namespace sinter

#endif // SINTER_DATA_BATCHRUNS_H
