//===- TrainingData.h - samples for training ------------------------------===//
//
//   train.npz                     an array for each input, by name, and
//                                 `target`, or several (train/Losses.h); the
//                                 first dimension counts samples
//   arrays in memory              the same
//   train/cat/a.png, dog/b.png    images (or arrays), a folder a class
//   train-images-idx3-ubyte       images, and their labels beside them
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_DATA_TRAININGDATA_H
#define SINTER_DATA_TRAININGDATA_H

#include "data/Augmentation.h"
#include "data/Buckets.h"
#include "data/Inputs.h"
#include "engine/TrainingRun.h"

#include <functional>
#include <optional>

namespace sinter {

/// An array that outputs are compared with: its name in a step, its other name
/// in an archive, and the output, unless a loss function from a file takes it.
struct TargetArray {
  std::string name, otherName;
  std::optional<unsigned> output = std::nullopt;
};

/// The names of the fields of TrainingDataOptions in messages.
struct TrainingDataNames {
  std::string source = "source", labels = "labels", resize = "resize",
              shapes = "shapes", mostUnreadable = "mostUnreadable";
};

struct TrainingDataOptions {
  std::string source;
  /// The arrays of an archive, instead of one; not empty.
  std::optional<NamedTensors> arrays;
  /// A file of class names, one per line; empty: folders in order.
  std::string labels;
  /// A resized image is larger than the window that is cropped from it: the
  /// input's size, or that of `crop`.
  InputOptions pictures;
  AugmentationOptions augmentation;
  /// The targets; at least one.
  std::vector<TargetArray> targets;
  BucketOptions buckets;
  /// Determines dropout, with the epoch and the sample's index, which is this
  /// for the first one.
  uint64_t seed = 0, firstSample = 0;
  /// The maximum number of unreadable images that are skipped.
  size_t mostUnreadable = 0;
  /// If images take more bytes than this together, they are decoded whenever
  /// they are needed.
  uint64_t mostBytes = uint64_t(1) << 30;
  TrainingDataNames names;
  /// Gets the skipped images; may be empty.
  std::function<void(const std::string &)> note;

  /// The source in messages: "source 'train.npz'".
  std::string where() const;
};

/// All samples, in memory or to be decoded.
class TrainingData {
public:
  /// Reads them for the model of \p session, which must outlive them. Usage
  /// errors if arrays do not fit the model, a class is unknown or empty, or
  /// there is no sample; System errors if too many cannot be read.
  static Result<TrainingData> load(Session &session,
                                   const std::string &modelPath,
                                   const TrainingDataOptions &options,
                                   const NamedShapes &shapes);

  size_t count() const { return samples; }
  /// The source in messages.
  const std::string &where() const { return place; }
  /// The names of the classes, in the order of their labels; empty if they are
  /// not known.
  const std::vector<std::string> &classNames() const { return classes; }
  /// All targets, as a batch without inputs.
  Batch allTargets() const { return {{}, targets, {}}; }
  /// The bucket of each sample.
  std::vector<uint32_t> bucketsOfSamples() const {
    return buckets ? buckets->ofSamples() : std::vector<uint32_t>(samples, 0);
  }
  /// The samples with these indices, of one bucket, in this order, augmented
  /// for epoch \p epoch. May be called from several threads.
  Result<Batch> batch(std::span<const size_t> numbers, uint64_t epoch) const;
  /// The same, divided among data-parallel processes, whose shares differ by at
  /// most one sample: only those of this process are read.
  Result<SharedBatch> parts(std::span<const size_t> numbers, uint64_t epoch,
                            const Processes &processes) const;

private:
  Result<std::vector<Tensor>> rows(std::span<const size_t> numbers) const;
  Tensor keysOf(std::span<const size_t> numbers, uint64_t epoch) const;

  /// All of each input; empty if samples are decoded on demand.
  std::vector<Tensor> inputs;
  std::function<Result<std::vector<Tensor>>(size_t number)> decode;
  std::vector<Tensor> targets;
  std::vector<std::string> classes;
  std::optional<Buckets> buckets;
  size_t samples = 0;
  uint64_t seed = 0, firstSample = 0;
  TrainingDataNames names;
  std::string place;
  AugmentationOptions augmentation;
  ImageLayout layout = ImageLayout::Nchw;
  /// The window of the images of the only input; nothing: images are not
  /// cropped.
  std::optional<PictureSize> window;
};

} // namespace sinter

#endif // SINTER_DATA_TRAININGDATA_H
