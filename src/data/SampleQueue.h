//===- SampleQueue.h - loads samples beside computing ---------------------===//

#ifndef SINTER_DATA_SAMPLEQUEUE_H
#define SINTER_DATA_SAMPLEQUEUE_H

#include "engine/Quantize.h"

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace sinter {

struct LoadedSample {
  /// Its index in the samples.
  size_t index = 0;
  Result<std::vector<Tensor>> tensors;
};

/// Loads samples on threads of its own, in any order but given out in theirs.
/// If the system refuses threads, next() loads them.
class SampleQueue {
public:
  using Load = std::function<Result<std::vector<Tensor>>(size_t index)>;

  /// The samples \p first to \p end, without the latter. At most \p most wait
  /// for next(). \p load is called by several threads at a time.
  SampleQueue(Load load, size_t first, size_t end, unsigned threads,
              size_t most);
  ~SampleQueue();
  SampleQueue(const SampleQueue &) = delete;
  SampleQueue &operator=(const SampleQueue &) = delete;

  /// The next sample; nothing after the last.
  std::optional<LoadedSample> next();

private:
  void work();

  Load load;
  const size_t end, most;
  std::mutex mutex;
  std::condition_variable changed;
  /// The next to be loaded, and to be given out.
  size_t toLoad, toGive;
  std::map<size_t, Result<std::vector<Tensor>>> ready;
  bool isGone = false;
  std::vector<std::thread> threads;
};

} // namespace sinter

#endif // SINTER_DATA_SAMPLEQUEUE_H
