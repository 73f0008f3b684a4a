//===- Sanitizers.h - tests that a sanitizer stands in the way of ---------===//

#ifndef SINTER_TEST_SANITIZERS_H
#define SINTER_TEST_SANITIZERS_H

#include <gtest/gtest.h>

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
/// Sanitizers end the process where an allocation is too large.
#define SKIP_IF_ALLOCATIONS_ARE_CHECKED()                                      \
  GTEST_SKIP() << "a sanitizer ends what wants too much memory"
/// Sanitizers keep what was freed for a while.
#define SKIP_IF_FREED_MEMORY_IS_KEPT()                                         \
  GTEST_SKIP() << "a sanitizer keeps what was freed"
#else
#define SKIP_IF_ALLOCATIONS_ARE_CHECKED() static_cast<void>(0)
#define SKIP_IF_FREED_MEMORY_IS_KEPT() static_cast<void>(0)
#endif

#if __has_feature(thread_sanitizer)
/// The thread sanitizer records 65,536 calls within each other.
#define SKIP_IF_CALLS_ARE_RECORDED()                                           \
  GTEST_SKIP() << "the thread sanitizer records no such depth"
#else
#define SKIP_IF_CALLS_ARE_RECORDED() static_cast<void>(0)
#endif

#endif // SINTER_TEST_SANITIZERS_H
