//===- RunStream.h - sinter run, step by step -----------------------------===//

#ifndef SINTER_DRIVER_RUNSTREAM_H
#define SINTER_DRIVER_RUNSTREAM_H

#include "data/Frames.h"
#include "data/Inputs.h"
#include "data/States.h"
#include "driver/CommonOptions.h"
#include "driver/RunResults.h"

namespace CLI {
class App;
}

namespace sinter::driver {

struct StepOptions {
  /// "OUTPUT=INPUT": the output becomes the input of the next step.
  std::vector<std::string> feeds;
  /// "[INPUT=]FILE", an array of which each step takes a window; may be empty.
  std::string frames;
  FrameOptions windows;

  bool isStream() const { return !feeds.empty() || !frames.empty(); }
};

/// --feed, --frames, --frame, --hop and --time-axis.
void addSteps(CLI::App &app, StepOptions &options);

struct StreamRunOptions {
  StepOptions stream;
  /// Where there are no frames.
  unsigned steps = 1;
  std::string outputFolder, labelFile;
  ShownLabels shown;
  StateOptions states;
};

/// Runs the model of \p session for each window, or so often, in one process.
/// What the steps give is printed and written with the step as first dimension,
/// or with --json printed as a line each; of an output that is fed back, the
/// last value.
Result<int> runStream(Session &session, const CommonOptions &common,
                      const InputOptions &inputs, const NamedShapes &shapes,
                      const StreamRunOptions &options);

} // namespace sinter::driver

#endif // SINTER_DRIVER_RUNSTREAM_H
