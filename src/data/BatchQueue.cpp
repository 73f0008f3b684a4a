//===- BatchQueue.cpp - prefetches batches during training ----------------===//

#include "data/BatchQueue.h"

#include <system_error>

namespace sinter {

static constexpr size_t mostReady = 2;

BatchQueue::BatchQueue(Make make, uint64_t first, uint64_t end)
    : make(std::move(make)), number(first), end(end) {
  try {
    thread = std::thread([this] { work(); });
  } catch (const std::system_error &) {
    // next() computes instead.
  }
}

BatchQueue::~BatchQueue() {
  {
    const std::scoped_lock lock(mutex);
    isGone = true;
  }
  changed.notify_all();
  if (thread.joinable())
    thread.join();
}

void BatchQueue::work() {
  for (; number < end; ++number) {
    {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return isGone || ready.size() < mostReady; });
      if (isGone)
        return;
    }
    Result<SharedBatch> batch = make(number);
    const std::scoped_lock lock(mutex);
    ready.push_back(std::move(batch));
    changed.notify_all();
  }
}

Result<SharedBatch> BatchQueue::next() {
  if (!thread.joinable())
    return make(number++);
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return !ready.empty(); });
  Result<SharedBatch> batch = std::move(ready.front());
  ready.pop_front();
  changed.notify_all();
  return batch;
}

} // namespace sinter
