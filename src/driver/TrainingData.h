//===- TrainingData.h - samples to train on -------------------------------===//
//
//   train.npz                     an array for each input, by name, and
//                                 `target`; the first dimension counts samples
//   train/cat/a.png, dog/b.png    pictures (or arrays), a folder a class
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_DRIVER_TRAININGDATA_H
#define SINTER_DRIVER_TRAININGDATA_H

#include "driver/Inputs.h"

#include <memory>

namespace sinter::driver {

struct TrainingDataOptions {
  /// The option, for messages: "--data".
  std::string flag;
  std::string source;
  /// A file of the classes' names, a line each; empty: folders in order.
  std::string labels;
  InputOptions pictures;
};

/// Inputs and their targets.
struct Batch {
  std::vector<Tensor> inputs;
  Tensor target;
};

/// All samples, in memory.
class TrainingData {
public:
  /// Reads them for the model of \p session. Usage errors where arrays do not
  /// fit the model, a class is unknown or there is no sample.
  static Result<TrainingData> load(Session &session,
                                   const std::string &modelPath,
                                   const TrainingDataOptions &options,
                                   const NamedShapes &shapes);

  size_t count() const { return samples; }
  /// The samples with these numbers, in this order.
  Batch batch(std::span<const size_t> numbers) const;

private:
  std::vector<Tensor> inputs;
  Tensor targets;
  size_t samples = 0;
};

} // namespace sinter::driver

#endif // SINTER_DRIVER_TRAININGDATA_H
