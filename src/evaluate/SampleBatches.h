//===- SampleBatches.h - samples as batches of a model --------------------===//

#ifndef SINTER_EVALUATE_SAMPLEBATCHES_H
#define SINTER_EVALUATE_SAMPLEBATCHES_H

#include "engine/Session.h"

#include <optional>
#include <span>
#include <vector>

namespace sinter {

/// How many samples a run takes.
struct BatchForm {
  int64_t rows = 1;
  /// Whether the model takes no other number.
  bool isFixed = false;
  /// Whether the first dimension of all inputs and outputs counts samples;
  /// else each runs by itself.
  bool isBatch = false;
};

/// That of \p model: the batch that it declares, or \p wanted (0: 8) if that is
/// dynamic. Usage error if it takes another number than \p wanted.
Result<BatchForm> batchFormOf(const ModelDescription &model, int64_t wanted);

/// A model that runs on samples.
class SampleRunner {
public:
  SampleRunner(Session &session, std::string path, BatchForm form)
      : session(session), path(std::move(path)), form(form) {}

  /// The outputs of each of \p samples, which have a tensor per input. Those
  /// that fit together run together. States have their first values in each
  /// run.
  Result<std::vector<std::vector<Tensor>>>
  run(std::span<const std::vector<Tensor>> samples);
  /// The time of all runs.
  double seconds() const { return took; }
  uint64_t runs() const { return count; }

private:
  size_t endOfBatch(std::span<const std::vector<Tensor>> samples,
                    size_t begin) const;
  Result<std::vector<Tensor>>
  batchOf(std::span<const std::vector<Tensor>> samples) const;
  Result<std::vector<Tensor>> runOn(std::span<const Tensor> inputs);

  Session &session;
  std::string path;
  BatchForm form;
  double took = 0;
  uint64_t count = 0;
};

} // namespace sinter

#endif // SINTER_EVALUATE_SAMPLEBATCHES_H
