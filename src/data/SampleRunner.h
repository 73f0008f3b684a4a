//===- SampleRunner.h - samples as batches of a model ---------------------===//
//
//   batch of 1              one by one
//   batch of 4              four at a time; the last batch is filled up with
//                           zeros, whose results nobody gets
//   dynamic batch           samples of one size, up to a number that is given
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_DATA_SAMPLERUNNER_H
#define SINTER_DATA_SAMPLERUNNER_H

#include "data/SampleRows.h"
#include "engine/Session.h"

#include <functional>

namespace sinter {

struct SampleRunnerOptions {
  /// Samples at a time; 0: as many as a static batch has, up to 8 for a dynamic
  /// one.
  int64_t batch = 0;
  /// As those of the session.
  NamedShapes shapes;
  /// Whether states have their first values in each run; else they go on, and
  /// samples run one by one.
  bool resetsStates = false;
  /// Called with the executor before the first run; may be empty.
  std::function<Result<void>(Executor &)> prepare;
  /// What messages call a sample.
  std::function<std::string(size_t index)> nameOf;
  /// Ends runs; may be null.
  const Cancellation *cancellation = nullptr;
  /// The name of the field in messages.
  std::string batchName = "batch";
};

/// Takes the outputs of sample \p index, which are its own rows of those of a
/// batch.
using TakeOutputs =
    std::function<Result<void>(size_t index, std::vector<Tensor> outputs)>;

/// Runs a model on samples, one tensor an input each.
class SampleRunner {
public:
  /// For the model of \p session, which must outlive it, and samples whose
  /// inputs \p varying differ from one to the next. Usage error for a batch
  /// that the model cannot have.
  static Result<SampleRunner> of(Session &session, std::vector<size_t> varying,
                                 SampleRunnerOptions options, TakeOutputs take);

  /// Takes the next sample: one row of the batch, or a whole one. Runs the
  /// model once a batch is full, and before a sample that does not fit to those
  /// that wait. Errors of a run name the sample; those of `take` are as they
  /// are.
  Result<void> add(size_t index, std::vector<Tensor> tensors);
  /// Runs the model on those that wait.
  Result<void> flush();

  /// Samples at a time.
  int64_t size() const { return most; }
  /// The samples of the largest run.
  int64_t largest() const { return mostRun; }
  /// Samples that were taken by `take`, and runs.
  size_t samples() const { return done; }
  uint64_t runs() const { return count; }
  /// The time of the runs alone.
  double milliseconds() const { return runMs; }

private:
  struct Sample {
    size_t index;
    std::vector<Tensor> tensors;
  };

  SampleRunner(Session &session, std::vector<size_t> varying,
               SampleRunnerOptions options, TakeOutputs take);
  Result<void> chooseSize();
  Result<void> checkSize(const std::string &given) const;
  bool mayFill() const;
  bool belongs(const std::vector<Tensor> &sample) const;
  bool isWhole() const;
  Result<std::vector<Tensor>> batchTensors() const;
  Result<void> makeReady(const std::vector<Tensor> &tensors);
  Result<std::vector<Tensor>> runOn(const std::vector<Tensor> &tensors);
  Result<bool> hasRows(const std::vector<Tensor> &outputs, int64_t rows) const;
  Result<void> runOneByOne();
  Result<void> deliver(std::vector<Tensor> outputs, int64_t rows);

  Session *session;
  std::vector<size_t> varying;
  SampleRunnerOptions options;
  TakeOutputs take;
  std::vector<ModelInput> inputs;
  BatchDimension batch;
  int64_t most = 1;
  /// Whether the model takes exactly so many.
  bool isStatic = false;
  /// Of the next batch.
  std::vector<Sample> pending;
  /// What the session is ready for.
  std::vector<Tensor> readyFor;
  std::shared_ptr<Executor> executor;
  int64_t mostRun = 1;
  size_t done = 0;
  uint64_t count = 0;
  double runMs = 0;
};

} // namespace sinter

#endif // SINTER_DATA_SAMPLERUNNER_H
