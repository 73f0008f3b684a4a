//===- CalibrationData.h - samples for calibration and evaluation ---------===//
//
//   images/a.png, b.npy, c.pb     a sample each, of a model with one input
//   images/cat/a.png, dog/b.png   the same, with the folder as class
//   data/one/input_0.pb, ...      a sample a folder, of a model with several
//   data/one/NAME.npy             the same, by the inputs' names
//   data/one.npz                  a sample with an array an input
//   random:42                     random numbers
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_DATA_CALIBRATIONDATA_H
#define SINTER_DATA_CALIBRATIONDATA_H

#include "data/Inputs.h"
#include "engine/Quantize.h"

namespace sinter {

/// The names of the fields of CalibrationOptions in messages.
struct CalibrationNames {
  std::string sources = "sources", truth = "truth", labels = "labels";
};

struct CalibrationOptions {
  /// Folders, files, or "random[:SEED]".
  std::vector<std::string> sources;
  /// A file of lines "file<TAB>class".
  std::string truth;
  /// A file of class names, one per line.
  std::string labels;
  /// The maximum number of samples, spread over all; 0: all.
  size_t most = 0;
  InputOptions pictures;
  CalibrationNames names;
};

/// Whether the file's name has an extension of images, of supported formats or
/// not.
bool isNamedAsPicture(const std::string &path);

/// The samples of the options, for the model of \p session, which must outlive
/// them. Usage errors for a folder without samples, an unknown class and the
/// like.
Result<Samples> findSamples(Session &session, const std::string &modelPath,
                            const CalibrationOptions &options,
                            const NamedShapes &shapes);

} // namespace sinter

#endif // SINTER_DATA_CALIBRATIONDATA_H
