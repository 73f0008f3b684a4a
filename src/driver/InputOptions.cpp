//===- InputOptions.cpp - options for a model's inputs --------------------===//

#include "driver/InputOptions.h"

#include "driver/Text.h"
#include "interface/OnceEach.h"
#include "interface/PreprocessingOptions.h"
#include "interface/SampleChoices.h"

#include <CLI/CLI.hpp>

namespace sinter::driver {

void addPictures(CLI::App &app, InputOptions &options,
                 const std::string &group) {
  options.names = {"--input"};
  options.note = onceEach(printNote);
  addPreprocessing(app, options.preprocessing, group);
}

void addInputs(CLI::App &app, InputOptions &options, bool takesMany) {
  app.add_option(
         "-i,--input", options.inputs,
         "an input: .npy, .pb (ONNX tensor), an image, WAV, random[:SEED] "
         "(alone: for all), or values, as in rate=16000 and "
         "sizes=1,3,8; without a name: the inputs in order" +
             std::string(takesMany ? ". Many samples: a folder, a pattern "
                                     "('*.png'), a list (@FILE or .txt), "
                                     "an .npz or .npy with a leading "
                                     "dimension, or - for standard input"
                                   : ""))
      ->allow_extra_args(false)
      ->type_name("[NAME=]FILE")
      ->group("Input");
  addPictures(app, options, "Input");
}

void addCalibration(CLI::App &app, SampleOptions &options) {
  options.names.sources = "--calibration";
  app.add_option("--calibration", options.sources,
                 "samples for calibration: a folder with .npy, .pb or image "
                 "files (or a sub-folder for each sample, with input_0.pb, ... "
                 "or NAME.npy), a pattern ('*.png'), a list (@FILE or .txt), "
                 "an .npz or .npy with a leading dimension, - for standard "
                 "input, or random[:SEED]")
      ->allow_extra_args(false)
      ->type_name("[NAME=]DIR|FILE")
      ->group("Calibration");
  app.add_option("--input", options.pictures.inputs,
                 "an input that is the same for all samples, as in rate=16000")
      ->allow_extra_args(false)
      ->type_name("NAME=FILE")
      ->group("Calibration");
  addLabelledSamples(app, options, "Calibration",
                     "the right classes: lines of a file's name, a tab, and a "
                     "class's number or label",
                     "FILE");
  addPictures(app, options.pictures, "Calibration");
}

void addStates(CLI::App &app, StateOptions &options, bool writes) {
  options.names = {"--state", "--state-dir"};
  app.add_option("--state", options.given,
                 "the first value of a state (a tensor that the model keeps "
                 "from run to run); may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME=FILE")
      ->group("Input");
  app.add_option(
         "--state-dir", options.folder,
         writes ? "keep states from command to command: read state_NAME.npy "
                  "there at the start, if it exists, and write it at the end"
                : "read states from state_NAME.npy there, if it exists; never "
                  "write them")
      ->type_name("DIR")
      ->group("Input");
}

Result<ReadySession> openSession(const CommonOptions &common,
                                 const InputOptions &options, bool fillRandom) {
  Result<SessionOptions> wanted = sessionOptions(common);
  if (!wanted)
    return wanted.takeError();
  return openSession(common.model, std::move(*wanted), options, fillRandom);
}

} // namespace sinter::driver
