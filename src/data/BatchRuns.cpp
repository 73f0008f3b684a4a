#include "data/BatchRuns.h"

#include "data/SampleQueue.h"
#include "runtime/CpuCount.h"

#include <algorithm>

namespace sinter {

/// Whether \p sample cannot be read and is left out, as one of \p unreadable.
static Result<bool> isLeftOut(const LoadedSample &sample, size_t &unreadable,
                              const BatchRunOptions &options) {
  if (sample.tensors)
    return false;
  const Error &why = sample.tensors.error();
  if (why.kind != ErrorKind::System)
    return why;
  if (options.mostUnreadable == 0)
    return withHint(options.unreadableName + " N skips such samples", why);
  if (options.unreadableBefore + ++unreadable > options.mostUnreadable)
    return systemError("more than " + std::to_string(options.mostUnreadable) +
                       " samples cannot be read (" + options.unreadableName +
                       " N); the last: " + why.message());
  if (options.note)
    options.note("left out: " + why.message());
  return true;
}

Result<BatchRunReport> runBatches(Session &session, const Samples &samples,
                                  const BatchRunOptions &options,
                                  const TakeOutputs &take) {
  const Stopwatch watch;
  SampleRunnerOptions how = options.runs;
  how.nameOf = [&samples](size_t index) {
    return "sample '" + samples.names[index] + "'";
  };
  Result<SampleRunner> runner =
      SampleRunner::of(session, samples.inputs, std::move(how), take);
  if (!runner)
    return runner.takeError();
  const size_t end = std::min(options.end, samples.count);
  const size_t total = end - std::min(options.first, end);
  const unsigned threads = usableCpuCount();
  SampleQueue queue(samples.load, options.first, end, threads,
                    2 * (threads + static_cast<size_t>(runner->size())));
  BatchRunReport report;
  while (std::optional<LoadedSample> sample = queue.next()) {
    Result<bool> isSkipped = isLeftOut(*sample, report.unreadable, options);
    if (!isSkipped)
      return isSkipped.takeError();
    if (*isSkipped)
      continue;
    if (Result<void> added =
            runner->add(sample->index, std::move(*sample->tensors));
        !added)
      return added.takeError();
    if (options.progress)
      options.progress(runner->samples() + report.unreadable, total);
  }
  if (Result<void> done = runner->flush(); !done)
    return done.takeError();
  if (options.progress)
    options.progress(total, total);
  report.done = runner->samples();
  report.batch = runner->largest();
  report.runMs = runner->milliseconds();
  report.wallMs = watch.milliseconds();
  return report;
}

} // namespace sinter
