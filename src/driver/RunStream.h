//===- RunStream.h - sinter run, step by step -----------------------------===//

#ifndef SINTER_DRIVER_RUNSTREAM_H
#define SINTER_DRIVER_RUNSTREAM_H

#include "data/Inputs.h"
#include "data/States.h"
#include "driver/CommonOptions.h"
#include "driver/PostOptions.h"
#include "driver/RunResults.h"
#include "driver/StepOptions.h"

namespace sinter::driver {

struct StreamRunOptions {
  StepOptions stream;
  /// Where there are no frames.
  unsigned steps = 1;
  std::string outputFolder, labelFile;
  ShownLabels shown;
  StateOptions states;
  RunPost post;
};

/// Runs the model of \p session for each window, or so often, in one process;
/// of many files or samples each is a stream of its own, and under mpirun each
/// process takes its share of them. What the steps give is printed and written
/// with the step as first dimension, or with --json printed as a line each; of
/// an output that is fed back, the last value. Steps of post-processing, and
/// those on standard input, are printed as they come.
Result<int> runStream(Session &session, const CommonOptions &common,
                      const InputOptions &inputs, const NamedShapes &shapes,
                      const StreamRunOptions &options);

} // namespace sinter::driver

#endif // SINTER_DRIVER_RUNSTREAM_H
