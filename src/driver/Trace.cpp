//===- Trace.cpp - the file of --trace ------------------------------------===//

#include "driver/Trace.h"

#include "runtime/TraceWriter.h"

#include <algorithm>

namespace sinter::driver {

/// Seconds between two times.
static double secondsFrom(CompileStage::Clock::time_point start,
                          CompileStage::Clock::time_point end) {
  return std::chrono::duration<double>(end - start).count();
}

Result<void> writeTrace(const CommonOptions &options,
                        const Executor &executor) {
  if (options.traceFile.empty())
    return {};
  TraceWriter trace;
  double end = 0;
  if (!options.stages->empty()) {
    const auto first =
        std::ranges::min(*options.stages, {}, &CompileStage::start).start;
    for (const CompileStage &stage : *options.stages) {
      const double start = secondsFrom(first, stage.start);
      if (stage.kernel.empty())
        trace.add("compile", stage.name, "compile", start, stage.seconds());
      else
        trace.add("kernels, thread " + std::to_string(stage.thread),
                  stage.name + " " + stage.kernel, stage.name, start,
                  stage.seconds());
      end = std::max(end, start + stage.seconds());
    }
  }
  trace.addLayers("layers", executor.layerTimes(), end);
  return trace.write(options.traceFile);
}

} // namespace sinter::driver
