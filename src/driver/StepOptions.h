//===- StepOptions.h - options for runs step by step ----------------------===//

#ifndef SINTER_DRIVER_STEPOPTIONS_H
#define SINTER_DRIVER_STEPOPTIONS_H

#include "data/Frames.h"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace sinter::driver {

struct StepOptions {
  /// "OUTPUT=INPUT": the output becomes the input of the next step.
  std::vector<std::string> feeds;
  /// "[INPUT=]FILE", an array of which each step takes a window, or several
  /// (FrameFiles.h); may be empty.
  std::string frames;
  FrameOptions windows;
  /// The type of elements without a header; may be empty.
  std::string raw;

  bool isStream() const { return !feeds.empty() || !frames.empty(); }
};

/// --feed, --frames, --frame, --hop, --time-axis and --raw.
void addSteps(CLI::App &app, StepOptions &options);

} // namespace sinter::driver

#endif // SINTER_DRIVER_STEPOPTIONS_H
