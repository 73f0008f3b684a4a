//===- TrainingDataLoader.h - training samples from any source ------------===//

#ifndef SINTER_DATA_TRAININGDATALOADER_H
#define SINTER_DATA_TRAININGDATALOADER_H

#include "data/SampleFiles.h"
#include "data/TrainingData.h"

namespace sinter {

/// Rows of \p tensor, whose first dimension counts samples.
Tensor rowsOf(const Tensor &tensor, std::span<const size_t> numbers);

/// Samples, stored consecutively, each with a tensor per input.
Result<std::vector<Tensor>>
stacked(size_t count,
        const std::function<Result<std::vector<Tensor>>(size_t)> &sample,
        const std::string &where, const TrainingDataNames &names);

/// Fills in the arrays, from any kind of source.
class TrainingDataLoader {
public:
  /// \p preparing: how images become inputs, by the options and the model.
  TrainingDataLoader(Session &session, const std::string &modelPath,
                     const TrainingDataOptions &options,
                     const NamedShapes &shapes, Preprocessing preparing)
      : session(session), modelPath(modelPath), options(options),
        shapes(shapes), preparing(std::move(preparing)),
        how(imageOptions(this->preparing)), stored(how) {
    // Windows are cropped from what is stored.
    if (how.resize) {
      stored.crop.reset();
      stored.padMultiple = 1;
    }
  }

  Result<void> fromArchive();
  Result<void> fromArrays(const NamedTensors &arrays);
  Result<void> fromFolders();
  Result<void> fromIdx();
  /// Determines the window of images, and whether it fits.
  Result<std::optional<PictureSize>> window() const;

  std::vector<Tensor> inputs;
  std::function<Result<std::vector<Tensor>>(size_t)> decode;
  std::vector<Tensor> targets;
  std::vector<std::string> classNames;
  std::optional<Buckets> buckets;

private:
  std::string where() const { return options.where(); }
  Result<void> checkArray(const std::string &name, const Tensor &array,
                          const ModelInput &input) const;
  TensorSpec inputSpec() const;
  TensorSpec pictureSpec() const;
  Result<PictureSize> windowSize(PictureSize images) const;
  Result<std::optional<Tensor>> picture(const std::string &path) const;
  Result<std::vector<size_t>> readable(const Samples &samples) const;
  Result<void> checkClasses(const Samples &samples) const;
  Result<void> nameClasses(const Samples &samples);
  Result<void> take(size_t count,
                    std::function<Result<std::vector<Tensor>>(size_t)> sample,
                    std::vector<int64_t> classes);
  Result<std::string> labelsBeside() const;

  Session &session;
  const std::string &modelPath;
  const TrainingDataOptions &options;
  const NamedShapes &shapes;
  const Preprocessing preparing;
  /// How images become inputs, and how they become what is stored.
  ImageOptions how, stored;
};

} // namespace sinter

#endif // SINTER_DATA_TRAININGDATALOADER_H
