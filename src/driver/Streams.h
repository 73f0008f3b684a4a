//===- Streams.h - concurrent runs of one program, measured ---------------===//
//
// A stream is a thread that runs the program again and again, on states and
// temporaries of its own and with a share of the threads. Streams do not wait
// for each other, so that a thread that has no work in one run has some in
// another: more runs a second, each of which takes longer.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_DRIVER_STREAMS_H
#define SINTER_DRIVER_STREAMS_H

#include "engine/Session.h"

#include <functional>
#include <span>
#include <vector>

namespace sinter::driver {

/// How many of \p threads each stream gets: the numbers differ by at most one.
/// Usage error, by the names of the options, if there are more streams.
Result<std::vector<unsigned>> threadsOfStreams(unsigned threads,
                                               unsigned streams);

struct StreamOptions {
  /// The threads of each stream.
  std::vector<unsigned> threads;
  /// Runs of each before it is measured.
  unsigned warmup = 0;
  /// How long each one runs.
  double seconds = 0;
  /// Sets the states of a stream.
  std::function<Result<void>(Executor &)> giveStates;
  /// Called by one of the streams after its runs, with the seconds that have
  /// passed; may be empty.
  std::function<void(double seconds)> progress;
};

struct StreamMeasurement {
  /// Of all runs of all streams.
  std::vector<double> latenciesMs;
  /// From the beginning of the first measured run to the end of the last.
  double seconds = 0;
};

/// Runs what \p session prepared for \p inputs in streams. The error is that of
/// the first run that failed; Usage if the interpreter runs the model, since
/// its runs cannot be concurrent; System if there are no threads.
Result<StreamMeasurement> measureStreams(Session &session,
                                         std::span<const Tensor> inputs,
                                         const StreamOptions &options);

} // namespace sinter::driver

#endif // SINTER_DRIVER_STREAMS_H
