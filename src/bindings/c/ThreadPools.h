//===- ThreadPools.h - pools of threads of the C interface ----------------===//

#ifndef SINTER_BINDINGS_C_THREADPOOLS_H
#define SINTER_BINDINGS_C_THREADPOOLS_H

#include "bindings/c/Handles.h"
#include "runtime/ThreadPool.h"

#include <memory>

struct sinter_thread_pool : sinter::c::Handle {
  explicit sinter_thread_pool(std::shared_ptr<sinter::ThreadPool> pool)
      : Handle(Kind::ThreadPool), pool(std::move(pool)) {}

  /// Sessions keep it.
  std::shared_ptr<sinter::ThreadPool> pool;
};

#endif // SINTER_BINDINGS_C_THREADPOOLS_H
