//===- BatchQueue.h - prefetches batches during training ------------------===//

#ifndef SINTER_DATA_BATCHQUEUE_H
#define SINTER_DATA_BATCHQUEUE_H

#include "engine/TrainingRun.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace sinter {

/// Makes batches on a thread of its own, in order, at most two ahead of the
/// consumer. If the system refuses a thread, next() makes them.
class BatchQueue {
public:
  using Make = std::function<Result<SharedBatch>(uint64_t number)>;

  /// Batches \p first to \p end, without the latter. \p make is called from one
  /// thread only.
  BatchQueue(Make make, uint64_t first, uint64_t end);
  ~BatchQueue();
  BatchQueue(const BatchQueue &) = delete;
  BatchQueue &operator=(const BatchQueue &) = delete;

  /// The next batch; there is one left.
  Result<SharedBatch> next();

private:
  void work();

  Make make;
  uint64_t number, end;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Result<SharedBatch>> ready;
  bool isGone = false;
  std::thread thread;
};

} // namespace sinter

#endif // SINTER_DATA_BATCHQUEUE_H
