//===- RunSamples.h - sinter run on many samples --------------------------===//

#ifndef SINTER_DRIVER_RUNSAMPLES_H
#define SINTER_DRIVER_RUNSAMPLES_H

#include "data/InputSources.h"
#include "data/Inputs.h"
#include "data/States.h"
#include "driver/CommonOptions.h"
#include "driver/PostOptions.h"
#include "driver/RunResults.h"
#include "engine/Quantize.h"

namespace sinter::driver {

struct SampleRunOptions {
  /// 0: as SampleRunnerOptions.
  int64_t batch = 0;
  size_t mostUnreadable = 0;
  std::string outputFolder, labelFile;
  ShownLabels shown;
  StateOptions states;
  RunPost post;
};

/// A name for what is written of each of \p samples, without an extension.
/// Unique in the set \p used.
std::vector<std::string> sampleStems(const Samples &samples,
                                     std::set<std::string> &used);

/// Runs the model of \p session on all samples of \p sources and prints, or
/// with
/// --json prints as a line of JSON each, or writes to the output folder what it
/// gives. Those on standard input are run as they come. Under mpirun each
/// process takes its share of them.
Result<int> runSamples(Session &session, const CommonOptions &common,
                       const InputOptions &inputs, const InputSources &sources,
                       const NamedShapes &shapes,
                       const SampleRunOptions &options);

} // namespace sinter::driver

#endif // SINTER_DRIVER_RUNSAMPLES_H
