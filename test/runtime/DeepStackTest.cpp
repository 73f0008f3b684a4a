#include "runtime/DeepStack.h"
#include "Sanitizers.h"
#include "runtime/GuardedThread.h"

#include <gtest/gtest.h>

#include <new>
#include <pthread.h>
#include <stdexcept>

using namespace sinter;

namespace {

/// Uses some 100 bytes or more of the stack for each of \p levels.
int descend(int levels) {
  volatile char room[64] = {};
  room[levels % 64] = 1;
  return levels == 0 ? 0 : descend(levels - 1) + room[levels % 64];
}

TEST(DeepStackTest, HoldsWhatOtherThreadsDoNot) {
  SKIP_IF_CALLS_ARE_RECORDED();
  constexpr int levels = 1 << 20;
  int reached = 0;
  ASSERT_TRUE(onDeepStack([&] { reached = descend(levels); }));
  EXPECT_EQ(reached, levels);
}

TEST(DeepStackTest, CallsWithinStayOnTheThread) {
  EXPECT_FALSE(hasDeepStack());
  bool isSame = false, isOther = false;
  ASSERT_TRUE(onDeepStack([&] {
    EXPECT_TRUE(hasDeepStack());
    const pthread_t here = pthread_self();
    EXPECT_TRUE(onDeepStack(
        [&] { isSame = pthread_equal(pthread_self(), here) != 0; }));
    EXPECT_TRUE(onOwnDeepStack(
        [&] { isOther = pthread_equal(pthread_self(), here) == 0; }));
  }));
  EXPECT_TRUE(isSame);
  EXPECT_TRUE(isOther);
}

TEST(DeepStackTest, AThreadWithAUsualStackIsNotEnough) {
  bool isDeep = true, isDeepWithin = false;
  GuardedThread thread(
      [&] {
        isDeep = hasDeepStack();
        EXPECT_TRUE(onDeepStack([&] { isDeepWithin = hasDeepStack(); }));
      },
      GuardedThread::usualStack);
  ASSERT_TRUE(thread.join());
  EXPECT_FALSE(isDeep);
  EXPECT_TRUE(isDeepWithin);
}

TEST(DeepStackTest, GivesWhatTheWorkGives) {
  const Result<int> number =
      resultOnDeepStack([]() -> Result<int> { return 7; });
  ASSERT_TRUE(number);
  EXPECT_EQ(*number, 7);
  const Result<int> error = resultOnDeepStack(
      []() -> Result<int> { return unsupported("no such number"); });
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().kind, ErrorKind::Unsupported);
}

TEST(DeepStackTest, StopOfACallOfItsOwnEndsOnlyThat) {
  Result<int> inner = 0;
  ASSERT_TRUE(onDeepStack([&] {
    inner = resultOnOwnDeepStack([]() -> Result<int> {
      GuardedThread::stop(unsupported("no such instruction"));
    });
  }));
  ASSERT_FALSE(inner);
  EXPECT_EQ(inner.error().message(), "no such instruction");
}

TEST(DeepStackTest, ExceptionsAreErrors) {
  const auto expectErrors = [] {
    const Result<void> memory = onDeepStack([] { throw std::bad_alloc(); });
    ASSERT_FALSE(memory);
    EXPECT_EQ(memory.error().kind, ErrorKind::System);
    EXPECT_EQ(memory.error().message(), "there is not enough memory");
    const Result<int> other = resultOnOwnDeepStack(
        []() -> Result<int> { throw std::runtime_error("it broke"); });
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().kind, ErrorKind::System);
    EXPECT_EQ(other.error().message(), "it broke");
  };
  expectErrors();
  ASSERT_TRUE(onDeepStack(expectErrors));
}

} // namespace
