//===- BatchQueue.h - batches are made while others are trained on --------===//

#ifndef SINTER_DRIVER_BATCHQUEUE_H
#define SINTER_DRIVER_BATCHQUEUE_H

#include "engine/TrainingRun.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace sinter::driver {

/// Makes batches on a thread of its own, in order, and at most two ahead of
/// who takes them. Where the system refuses a thread, next() makes them.
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

} // namespace sinter::driver

#endif // SINTER_DRIVER_BATCHQUEUE_H
