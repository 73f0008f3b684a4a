//===- InputOptions.h - options for a model's inputs ----------------------===//

#ifndef SINTER_DRIVER_INPUTOPTIONS_H
#define SINTER_DRIVER_INPUTOPTIONS_H

#include "data/Inputs.h"
#include "data/SampleFiles.h"
#include "data/States.h"
#include "driver/CommonOptions.h"

namespace CLI {
class App;
}

namespace sinter::driver {

/// --input and how images become tensors; \p takesMany: whether the command
/// takes sources of many samples.
void addInputs(CLI::App &app, InputOptions &options, bool takesMany = false);
/// The options of pre-processing, in \p group of the help, with notes on what
/// models' metadata add.
void addPictures(CLI::App &app, InputOptions &options,
                 const std::string &group);
/// --calibration, --truth, --labels, --samples and how images become tensors.
void addCalibration(CLI::App &app, SampleOptions &options);
/// --state and --state-dir; \p writes: whether the command writes the states to
/// the folder at the end.
void addStates(CLI::App &app, StateOptions &options, bool writes);

/// Opens the model of the options, loads its inputs (see loadInputs) and
/// prepares it for them.
Result<ReadySession> openSession(const CommonOptions &common,
                                 const InputOptions &options, bool fillRandom);

} // namespace sinter::driver

#endif // SINTER_DRIVER_INPUTOPTIONS_H
