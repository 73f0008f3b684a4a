//===- TrainingData.h - samples to train on -------------------------------===//
//
//   train.npz                     an array for each input, by name, and
//                                 `target`, or several (TrainLosses.h); the
//                                 first dimension counts samples
//   train/cat/a.png, dog/b.png    pictures (or arrays), a folder a class
//   train-images-idx3-ubyte       pictures, and their labels beside them
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_DRIVER_TRAININGDATA_H
#define SINTER_DRIVER_TRAININGDATA_H

#include "driver/Augmentation.h"
#include "driver/Buckets.h"
#include "driver/Inputs.h"
#include "driver/TrainLosses.h"
#include "engine/TrainingRun.h"

#include <functional>
#include <optional>

namespace sinter::driver {

struct TrainingDataOptions {
  /// The option, for messages: "--data".
  std::string flag;
  std::string source;
  /// A file of the classes' names, a line each; empty: folders in order.
  std::string labels;
  InputOptions pictures;
  /// The size of pictures before a window of the input's size is cut out;
  /// nothing: the input's.
  std::optional<PictureSize> resize;
  AugmentationOptions augmentation;
  /// What outputs are compared with; at least one.
  std::vector<TargetArray> targets;
  BucketOptions buckets;
  /// Decides, with the epoch and the sample's number, what is dropped of it.
  uint64_t seed = 0;
  /// At most so many pictures that cannot be read are left out.
  size_t mostUnreadable = 0;
  /// Pictures that take more bytes than that together are decoded each time
  /// that they are needed.
  uint64_t mostBytes = uint64_t(1) << 30;
};

/// All samples, in memory or to be decoded.
class TrainingData {
public:
  /// Reads them for the model of \p session, which must outlive them. Usage
  /// errors where arrays do not fit the model, a class is unknown or empty, or
  /// there is no sample; System errors where too many cannot be read.
  static Result<TrainingData> load(Session &session,
                                   const std::string &modelPath,
                                   const TrainingDataOptions &options,
                                   const NamedShapes &shapes);

  size_t count() const { return samples; }
  /// All targets, as a batch without inputs.
  Batch allTargets() const { return {{}, targets, {}}; }
  /// The bucket of each sample.
  std::vector<uint32_t> bucketsOfSamples() const {
    return buckets ? buckets->ofSamples() : std::vector<uint32_t>(samples, 0);
  }
  /// The samples with these numbers, of one bucket, in this order, augmented as
  /// in epoch \p epoch. May be called from several threads.
  Result<Batch> batch(std::span<const size_t> numbers, uint64_t epoch) const;
  /// The same in parts for the processes that train together, which differ by
  /// one sample at most: this process's parts alone are read.
  Result<SharedBatch> parts(std::span<const size_t> numbers, uint64_t epoch,
                            const Processes &processes) const;

private:
  Result<std::vector<Tensor>> rows(std::span<const size_t> numbers) const;
  Tensor keysOf(std::span<const size_t> numbers, uint64_t epoch) const;

  /// All of each input; empty where samples are decoded as they are needed.
  std::vector<Tensor> inputs;
  std::function<Result<std::vector<Tensor>>(size_t number)> decode;
  std::vector<Tensor> targets;
  std::optional<Buckets> buckets;
  size_t samples = 0;
  uint64_t seed = 0;
  AugmentationOptions augmentation;
  ImageLayout layout = ImageLayout::Nchw;
  /// What is cut out of the pictures of the only input; nothing: they stay as
  /// they are.
  std::optional<PictureSize> window;
};

} // namespace sinter::driver

#endif // SINTER_DRIVER_TRAININGDATA_H
