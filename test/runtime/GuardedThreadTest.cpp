#include "runtime/GuardedThread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <vector>

using namespace sinter;

namespace {

TEST(GuardedThreadTest, WorkIsDoneOnAThreadOfItsOwn) {
  const pthread_t here = pthread_self();
  bool isElsewhere = false;
  ASSERT_TRUE(
      runGuarded([&] { isElsewhere = !pthread_equal(pthread_self(), here); }));
  EXPECT_TRUE(isElsewhere);
}

TEST(GuardedThreadTest, StopIsAnError) {
  bool wentOn = false;
  const Result<void> done = runGuarded([&] {
    GuardedThread::stop(unsupported("no such instruction"));
    wentOn = true;
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::Unsupported);
  EXPECT_EQ(done.error().message(), "no such instruction");
  EXPECT_FALSE(wentOn);
}

TEST(GuardedThreadTest, StopOfAThreadWithinIsItsOwn) {
  Result<void> inner = {};
  ASSERT_TRUE(runGuarded([&] {
    inner = runGuarded([] { GuardedThread::stop(systemError("inside")); });
  }));
  ASSERT_FALSE(inner);
  EXPECT_EQ(inner.error().message(), "inside");
}

TEST(GuardedThreadTest, OthersGoOn) {
  std::atomic<int> done = 0;
  std::vector<GuardedThread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back(
        [&done, i] {
          if (i == 3)
            GuardedThread::stop(systemError("third"));
          ++done;
        },
        GuardedThread::usualStack);
  int stopped = 0;
  for (GuardedThread &thread : threads)
    stopped += !thread.join();
  EXPECT_EQ(stopped, 1);
  EXPECT_EQ(done, 7);
}

TEST(GuardedThreadTest, ExceptionsAreThrownWhereItIsJoined) {
  EXPECT_THROW(static_cast<void>(runGuarded([] { throw std::bad_alloc(); })),
               std::bad_alloc);
}

TEST(GuardedThreadTest, AnyOtherThreadEndsTheProcess) {
  EXPECT_EXIT(GuardedThread::stop(unsupported("nobody waits")),
              testing::ExitedWithCode(4), "error: nobody waits");
}

} // namespace
