#include "data/SampleQueue.h"

#include <algorithm>
#include <system_error>

namespace sinter {

SampleQueue::SampleQueue(Load load, size_t first, size_t end, unsigned count,
                         size_t most)
    : load(std::move(load)), end(std::max(first, end)),
      most(std::max<size_t>(most, 1)), toLoad(first), toGive(first) {
  const size_t wanted = std::min<size_t>(count, this->end - first);
  try {
    while (threads.size() < wanted)
      threads.emplace_back([this] { work(); });
  } catch (const std::system_error &) {
    // Those that there are do the work, or next().
  }
}

SampleQueue::~SampleQueue() {
  {
    const std::scoped_lock lock(mutex);
    isGone = true;
  }
  changed.notify_all();
  for (std::thread &thread : threads)
    thread.join();
}

void SampleQueue::work() {
  while (true) {
    size_t index = 0;
    {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] {
        return isGone || toLoad >= end || toLoad < toGive + most;
      });
      if (isGone || toLoad >= end)
        return;
      index = toLoad++;
    }
    Result<std::vector<Tensor>> tensors = load(index);
    const std::scoped_lock lock(mutex);
    ready.emplace(index, std::move(tensors));
    changed.notify_all();
  }
}

std::optional<LoadedSample> SampleQueue::next() {
  std::unique_lock lock(mutex);
  if (toGive >= end)
    return std::nullopt;
  const size_t index = toGive;
  if (threads.empty()) {
    ++toGive;
    return LoadedSample{index, load(index)};
  }
  changed.wait(lock, [&] { return ready.contains(index); });
  auto found = ready.extract(index);
  ++toGive;
  changed.notify_all();
  return LoadedSample{index, std::move(found.mapped())};
}

} // namespace sinter
