#include "data/SampleQueue.h"

#include <gtest/gtest.h>

#include <atomic>

namespace sinter {
namespace {

/// A sample with its index; every fifth is an error.
Result<std::vector<Tensor>> numbered(size_t index) {
  if (index % 5 == 4)
    return systemError("sample " + std::to_string(index));
  Tensor tensor(ElementType::I64, {1});
  tensor.set<int64_t>(0, static_cast<int64_t>(index));
  return std::vector<Tensor>{std::move(tensor)};
}

TEST(SampleQueue, GivesSamplesInOrder) {
  for (const unsigned threads : {0U, 1U, 3U})
    for (const size_t most : {size_t(1), size_t(4), size_t(100)}) {
      SampleQueue queue(numbered, 2, 40, threads, most);
      for (size_t i = 2; i < 40; ++i) {
        std::optional<LoadedSample> sample = queue.next();
        ASSERT_TRUE(sample);
        EXPECT_EQ(sample->index, i);
        ASSERT_EQ(static_cast<bool>(sample->tensors), i % 5 != 4);
        if (sample->tensors)
          EXPECT_EQ(sample->tensors->front().at<int64_t>(0),
                    static_cast<int64_t>(i));
      }
      EXPECT_FALSE(queue.next());
    }
}

TEST(SampleQueue, LoadsNoMoreThanItMay) {
  std::atomic<size_t> loaded = 0, given = 0;
  std::atomic<bool> isTooFar = false;
  {
    SampleQueue queue(
        [&](size_t index) {
          if (++loaded > given + 3)
            isTooFar = true;
          return numbered(index);
        },
        0, 30, 4, 3);
    for (int i = 0; i < 20; ++i) {
      // What next() gives out makes room for another one at once.
      ++given;
      EXPECT_TRUE(queue.next());
    }
    // The rest is not wanted.
  }
  EXPECT_FALSE(isTooFar);
  EXPECT_LE(loaded, 23U);
}

TEST(SampleQueue, OfNothing) {
  SampleQueue queue(numbered, 5, 3, 2, 2);
  EXPECT_FALSE(queue.next());
}

} // namespace
} // namespace sinter
