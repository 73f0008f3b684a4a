#include "runtime/Result.h"

#include <gtest/gtest.h>

using namespace sinter;

TEST(Error, IsOneLine) {
  EXPECT_EQ(
      invalidModel("block with no terminator, has \n  %0 = f()\n").message,
      "block with no terminator, has %0 = f()");
  EXPECT_EQ(unsupported("a\n\n  b\nc").message, "a b c");
  EXPECT_EQ(usageError("\nname 'a\tb\x7f'").message, "name 'a?b?'");
  EXPECT_EQ(systemError("  kept as  it is").message, "  kept as  it is");
}
