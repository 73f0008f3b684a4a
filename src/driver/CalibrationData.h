//===- CalibrationData.h - samples to learn ranges and to judge by --------===//
//
//   images/a.png, b.npy, c.pb     a sample each, of a model with one input
//   images/cat/a.png, dog/b.png   the same, with the folder as class
//   data/one/input_0.pb, ...      a sample a folder, of a model with several
//   data/one/NAME.npy             the same, by the inputs' names
//   data/one.npz                  a sample with an array an input
//   random:42                     random numbers
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_DRIVER_CALIBRATIONDATA_H
#define SINTER_DRIVER_CALIBRATIONDATA_H

#include "driver/Inputs.h"
#include "engine/Quantize.h"

namespace sinter::driver {

struct CalibrationOptions {
  /// The option that names the sources, for messages.
  std::string flag = "--calibration";
  /// Folders, files, or "random[:SEED]".
  std::vector<std::string> sources;
  /// A file of lines "file<TAB>class".
  std::string truth;
  /// A file of the classes' names, a line each.
  std::string labels;
  /// At most so many samples, spread over all; 0: all.
  size_t most = 0;
  InputOptions pictures;
};

/// --calibration, --truth, --labels, --samples and how pictures become tensors.
void addCalibration(CLI::App &app, CalibrationOptions &options);

/// Whether the file's name ends as those of pictures do, of formats that are
/// read or not.
bool isNamedAsPicture(const std::string &path);

/// The samples that the options name, for the model of \p session, which must
/// outlive them. Usage errors for a folder that holds none, a class that is not
/// known and the like.
Result<Samples> findSamples(Session &session, const std::string &modelPath,
                            const CalibrationOptions &options,
                            const NamedShapes &shapes);

} // namespace sinter::driver

#endif // SINTER_DRIVER_CALIBRATIONDATA_H
