//===- Streams.cpp - concurrent runs of one program, measured -------------===//

#include "driver/Streams.h"

#include "runtime/OutOfMemory.h"
#include "runtime/ThreadPool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <latch>
#include <system_error>
#include <thread>

namespace sinter::driver {

namespace {

using StreamClock = std::chrono::steady_clock;

struct Stream {
  std::unique_ptr<Executor> executor;
  std::vector<double> latenciesMs;
  StreamClock::time_point begin, end;
  std::optional<Error> failure;
};

/// The streams of one measurement.
class StreamRuns {
public:
  StreamRuns(std::span<const Tensor> inputs, const StreamOptions &options)
      : inputs(inputs), options(options), streams(options.threads.size()),
        warm(static_cast<std::ptrdiff_t>(options.threads.size())) {}

  /// Makes an executor for each stream.
  Result<void> prepare(Session &session) {
    for (size_t i = 0; i < streams.size(); ++i) {
      const unsigned threads = options.threads[i];
      // A pool has one job at a time: streams that shared one would wait.
      auto executor = session.anotherExecutor(
          threads, std::make_shared<ThreadPool>(threads));
      if (!executor)
        return executor.takeError();
      streams[i].executor = std::move(*executor);
      if (Result<void> given = options.giveStates(*streams[i].executor); !given)
        return given;
    }
    return {};
  }

  Result<StreamMeasurement> measure() {
    {
      std::vector<std::jthread> threads;
      try {
        for (Stream &stream : streams)
          threads.emplace_back([this, &stream] { runSafely(stream); });
      } catch (const std::system_error &refused) {
        hasFailed = true;
        // Those that run wait for all.
        warm.count_down(
            static_cast<std::ptrdiff_t>(streams.size() - threads.size()));
        streams.back().failure = systemError(
            "the system refuses a thread for stream " +
            std::to_string(threads.size() + 1) + ": " + refused.what());
      }
    }
    return result();
  }

private:
  Result<StreamMeasurement> result() {
    StreamMeasurement measured;
    for (Stream &stream : streams)
      if (stream.failure)
        return *stream.failure;
    StreamClock::time_point begin = streams.front().begin,
                            end = streams.front().end;
    for (const Stream &stream : streams) {
      measured.latenciesMs.insert(measured.latenciesMs.end(),
                                  stream.latenciesMs.begin(),
                                  stream.latenciesMs.end());
      begin = std::min(begin, stream.begin);
      end = std::max(end, stream.end);
    }
    measured.seconds = std::chrono::duration<double>(end - begin).count();
    return measured;
  }

  void runSafely(Stream &stream) {
    bool isWarm = false;
    Result<void> done =
        catchingOutOfMemory("a stream", [&] { return run(stream, isWarm); });
    if (done)
      return;
    stream.failure = done.takeError();
    hasFailed = true;
    if (!isWarm)
      warm.count_down();
  }

  Result<void> run(Stream &stream, bool &isWarm) {
    for (unsigned i = 0; i <= options.warmup && !hasFailed; ++i)
      if (auto results = stream.executor->run(inputs); !results)
        return results.takeError();
    isWarm = true;
    warm.arrive_and_wait();
    stream.begin = StreamClock::now();
    const auto last =
        stream.begin + std::chrono::duration<double>(options.seconds);
    StreamClock::time_point start = stream.begin;
    do {
      if (auto results = stream.executor->run(inputs); !results)
        return results.takeError();
      stream.end = StreamClock::now();
      stream.latenciesMs.push_back(
          std::chrono::duration<double, std::milli>(stream.end - start)
              .count());
      start = stream.end;
      if (options.progress && &stream == &streams.front())
        options.progress(
            std::chrono::duration<double>(start - stream.begin).count());
    } while (start < last && !hasFailed);
    return {};
  }

  std::span<const Tensor> inputs;
  const StreamOptions &options;
  std::vector<Stream> streams;
  /// Reached when every stream has done its warm-up, or has failed.
  std::latch warm;
  std::atomic<bool> hasFailed = false;
};

} // namespace

Result<std::vector<unsigned>> threadsOfStreams(unsigned threads,
                                               unsigned streams) {
  if (streams > threads)
    return usageError("--streams: " + std::to_string(streams) +
                      " streams need as many threads, but there are " +
                      std::to_string(threads) + "; --threads " +
                      std::to_string(streams) + ", or fewer streams");
  std::vector<unsigned> shares(streams, threads / streams);
  for (unsigned i = 0; i < threads % streams; ++i)
    ++shares[i];
  return shares;
}

Result<StreamMeasurement> measureStreams(Session &session,
                                         std::span<const Tensor> inputs,
                                         const StreamOptions &options) {
  if (!session.program())
    return usageError("--streams: the interpreter runs one at a time; "
                      "--backend cpu, or no --streams");
  StreamRuns runs(inputs, options);
  if (Result<void> ready = runs.prepare(session); !ready)
    return ready.takeError();
  return runs.measure();
}

} // namespace sinter::driver
