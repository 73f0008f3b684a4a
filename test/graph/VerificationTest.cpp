#include "graph/Verification.h"

#include <cstdlib>
#include <gtest/gtest.h>

using namespace sinter;

namespace {

/// Ends the process with 1 or 0, as it is with \p value in the environment.
[[noreturn]] void exitWith(const char *value) {
  ::setenv("SINTER_VERIFY_CODE", value, 1);
  std::exit(verifiesEachStage() ? 1 : 0);
}

TEST(Verification, FollowsTheEnvironment) {
  // Asked once a process: others ask.
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(exitWith("1"), ::testing::ExitedWithCode(1), "");
  EXPECT_EXIT(exitWith("0"), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(exitWith("yes"), ::testing::ExitedWithCode(0), "");
}

} // namespace
