//===- SampleFiles.h - samples from files ---------------------------------===//
//
// Where run, quantize and evaluate take their samples from:
//
//   images/a.png, b.npy, c.pb     a sample each, of a model with one input
//   images/cat/a.png, dog/b.png   the same, with the folder as class
//   data/one/input_0.pb, ...      a sample a folder, of a model with several
//   data/one/NAME.npy             the same, by the inputs' names
//   data/one.npz                  a sample with an array an input
//   all.npy, all.npz              given itself: as many samples as its arrays
//                                 have (SampleRows.h)
//   'images/*.png', @list, -      see SampleSources.h
//   random:42                     random numbers
//   x=images/                     samples of one of several inputs
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_DATA_SAMPLEFILES_H
#define SINTER_DATA_SAMPLEFILES_H

#include "data/Inputs.h"
#include "data/SampleSources.h"
#include "engine/Quantize.h"

namespace sinter {

/// The names of the fields of SampleOptions in messages.
struct SampleNames {
  std::string sources = "sources", truth = "truth", labels = "labels";
};

struct SampleOptions {
  /// As above.
  std::vector<std::string> sources;
  /// A file of lines "file<TAB>class".
  std::string truth;
  /// A file of class names, one per line; empty: those that the model keeps
  /// (Labels.h), if the samples' classes are among them.
  std::string labels;
  /// The maximum number of samples, spread over all; 0: all.
  size_t most = 0;
  /// Whether a sample is one row of the model's batch, whatever its size, or a
  /// whole batch: for callers that fill batches themselves.
  bool asRows = false;
  /// Reads the only source, "-": those that are there, at least one unless it
  /// has ended. Null: all are read.
  std::shared_ptr<PipedSamples> piped;
  /// How images become tensors, and the inputs that are the same for all
  /// samples, by name.
  InputOptions pictures;
  SampleNames names;
};

/// Whether the file's name has an extension of images, of supported formats or
/// not.
bool isNamedAsPicture(const std::string &path);

/// The samples of the options, for the model of \p session, which must outlive
/// them. Threads may load several at a time. Usage errors for a folder without
/// samples, an unknown class and the like.
Result<Samples> findSamples(Session &session, const std::string &modelPath,
                            const SampleOptions &options,
                            const NamedShapes &shapes);

/// The inputs of \p model with the sizes of \p shapes.
std::vector<ModelInput> inputsOfShapes(const ModelDescription &model,
                                       const NamedShapes &shapes);

} // namespace sinter

#endif // SINTER_DATA_SAMPLEFILES_H
