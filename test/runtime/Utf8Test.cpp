#include "runtime/Utf8.h"

#include "gtest/gtest.h"

using namespace sinter;

TEST(Utf8, ShortenedTextHasWholeCharacters) {
  EXPECT_EQ(shortened("convolution", 11), "convolution");
  EXPECT_EQ(shortened("convolution", 4), "conv...");
  // Two and four bytes.
  const std::string text = "a\u00e4\U0001f600b";
  EXPECT_EQ(shortened(text, 8), text);
  EXPECT_EQ(shortened(text, 7), "a\u00e4\U0001f600...");
  for (const size_t most : {3, 4, 5, 6})
    EXPECT_EQ(shortened(text, most), "a\u00e4...");
  EXPECT_EQ(shortened(text, 2), "a...");
  EXPECT_EQ(shortened(text, 0), "...");
  // No UTF-8 at all.
  EXPECT_EQ(shortened("\x80\x80\x80", 2), "...");
}
