//===- EvaluationData.h - samples with what is right of them --------------===//
//
//   test/cat/a.png, dog/b.png      a folder for each class
//   images/ and --truth FILE       lines of a file's name, a tab and a class
//   images/ and --truth DIR        NAME.npy or NAME.png (a class for each
//                                  pixel) for each NAME of the samples
//   images/ and --truth FILE.json  boxes, in the form of COCO
//   test.npz                       inputs by name, and `target`; the first
//                                  dimension counts samples
//   t10k-images-idx3-ubyte         images, and their labels beside them
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_EVALUATE_EVALUATIONDATA_H
#define SINTER_EVALUATE_EVALUATIONDATA_H

#include "data/SampleFiles.h"
#include "data/TrainingData.h"
#include "evaluate/BoxTruth.h"

#include <functional>
#include <memory>
#include <optional>

namespace sinter {

/// What is right of one sample: a tensor, whose first dimension is 1, or boxes.
struct SampleTruth {
  Tensor target;
  std::vector<TrueBox> boxes;
  /// Of the image that the boxes are in; 0: not known.
  PictureSize size;
};

/// A sample of a program: a tensor per input, and what is right of it.
struct LabelledSample {
  std::vector<Tensor> inputs;
  Tensor target;
};

/// Samples of a program.
struct GivenSamples {
  size_t count = 0;
  /// Called in order, and by one thread at a time.
  std::function<Result<LabelledSample>(size_t index)> load;
};

/// Samples, which are loaded one by one.
class EvaluationData {
public:
  /// For the model of \p session, which must outlive them. Usage errors if
  /// there is no sample, a sample has no truth, or truth does not fit.
  static Result<EvaluationData> load(Session &session,
                                     const std::string &modelPath,
                                     const SampleOptions &options,
                                     const NamedShapes &shapes);

  /// Those that a program gives for \p model, which has their targets as it
  /// has its outputs: a row of a batch each, or a whole one. Usage error if
  /// there is none.
  static Result<EvaluationData> of(const GivenSamples &given,
                                   const ModelDescription &model);

  size_t count() const { return samples; }
  /// How many threads may load samples.
  unsigned loaders() const { return threads; }
  /// The inputs that differ from sample to sample.
  const std::vector<size_t> &varying() const { return varyingInputs; }
  /// One tensor per input.
  Result<std::vector<Tensor>> inputs(size_t index) const {
    return loadInputs(index);
  }
  Result<SampleTruth> truth(size_t index) const { return loadTruth(index); }
  /// The file of a sample, or which one of the archive it is.
  std::string nameOf(size_t index) const { return name(index); }
  bool hasBoxes() const { return areBoxes; }
  /// The classes' names, if they are known.
  const std::vector<std::string> &labels() const { return classNames; }

private:
  Result<void> takeArrays(Session &session, const std::string &modelPath,
                          const SampleOptions &options,
                          const NamedShapes &shapes);
  Result<void> takeFiles(Session &session, const std::string &modelPath,
                         const SampleOptions &options,
                         const NamedShapes &shapes);
  Result<void> takeClasses(const Samples &found, const SampleOptions &options);
  Result<void> takeMaps(const Samples &found, const std::string &folder,
                        const std::string &option);
  Result<void> takeBoxes(const Samples &found, const SampleOptions &options);

  size_t samples = 0;
  unsigned threads = 1;
  std::vector<size_t> varyingInputs;
  std::function<Result<std::vector<Tensor>>(size_t)> loadInputs;
  std::function<Result<SampleTruth>(size_t)> loadTruth;
  std::function<std::string(size_t)> name;
  bool areBoxes = false;
  std::vector<std::string> classNames;
};

} // namespace sinter

#endif // SINTER_EVALUATE_EVALUATIONDATA_H
