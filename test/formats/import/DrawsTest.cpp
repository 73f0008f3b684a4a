#include "formats/import/Draws.h"

#include <gtest/gtest.h>

using namespace sinter::formats;

// The expected numbers are numpy.random.RandomState(0)'s rand() and randn().

TEST(Draws, UniformNumbersAreNumPys) {
  Draws draws(0);
  EXPECT_DOUBLE_EQ(draws.uniform(), 0.5488135039273248);
  EXPECT_DOUBLE_EQ(draws.uniform(), 0.7151893663724195);
  EXPECT_DOUBLE_EQ(draws.uniform(), 0.6027633760716439);
}

TEST(Draws, NormalNumbersAreNumPys) {
  Draws draws(0);
  EXPECT_DOUBLE_EQ(draws.normal(), 1.764052345967664);
  EXPECT_DOUBLE_EQ(draws.normal(), 0.4001572083672233);
  EXPECT_DOUBLE_EQ(draws.normal(), 0.9787379841057392);
}
