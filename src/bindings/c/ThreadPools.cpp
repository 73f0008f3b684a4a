//===- ThreadPools.cpp - pools of threads of the C interface --------------===//

#include "bindings/c/ThreadPools.h"

namespace sinter::c {

/// The pool whose work \p given does.
static Result<std::unique_ptr<sinter_thread_pool>>
poolOf(const sinter_host_threads *given) {
  Result<sinter_host_threads> host = takeStruct(given, "host");
  if (!host)
    return host.takeError();
  if (Result<void> good = checkPointer(host->run, "host.run"); !good)
    return good.takeError();
  constexpr size_t most = ThreadPool::mostTasks;
  if (host->threads < 1 || host->threads > most)
    return usageError("host.threads is " + std::to_string(host->threads) +
                      "; it is 1 to " + std::to_string(most));
  const auto run = [host = *host](size_t count, sinter_task task, void *data) {
    host.run(host.user, count, task, data);
  };
  return std::make_unique<sinter_thread_pool>(
      std::make_shared<ThreadPool>(static_cast<unsigned>(host->threads), run));
}

} // namespace sinter::c

using namespace sinter;
using namespace sinter::c;

extern "C" {

sinter_status sinter_thread_pool_new(size_t threads, sinter_thread_pool **pool,
                                     sinter_error **error) {
  return guarded(error, [&]() -> Result<void> {
    if (Result<void> good = checkPointer(pool, "pool"); !good)
      return good;
    // More is a mistake, such as a negative number.
    constexpr size_t most = 4096;
    if (threads > most)
      return usageError("threads is " + std::to_string(threads) +
                        "; a pool has up to " + std::to_string(most));
    *pool = new sinter_thread_pool(
        std::make_shared<ThreadPool>(static_cast<unsigned>(threads)));
    return {};
  });
}

sinter_status sinter_thread_pool_of_host(const sinter_host_threads *host,
                                         sinter_thread_pool **pool,
                                         sinter_error **error) {
  return guarded(error, [&]() -> Result<void> {
    if (Result<void> good = checkPointer(pool, "pool"); !good)
      return good;
    Result<std::unique_ptr<sinter_thread_pool>> made = poolOf(host);
    if (!made)
      return made.takeError();
    *pool = made->release();
    return {};
  });
}

size_t sinter_thread_pool_size(const sinter_thread_pool *pool) {
  return Use::of(pool, Handle::Kind::ThreadPool) ? pool->pool->size() : 0;
}

sinter_status sinter_thread_pool_free(sinter_thread_pool *pool,
                                      sinter_error **error) {
  return freeHandle(pool, Handle::Kind::ThreadPool, error);
}

} // extern "C"
