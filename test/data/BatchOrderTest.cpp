#include "data/BatchOrder.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace sinter {
namespace {

using Batches = std::vector<std::vector<size_t>>;

TEST(BatchOrder, LastBatchIsKeptOrDropped) {
  const std::vector<size_t> numbers = {4, 3, 2, 1, 0};
  const BatchOrder kept(std::vector<uint32_t>(5), 2, false);
  EXPECT_EQ(kept.count(), 3U);
  EXPECT_EQ(kept.samples(), 5U);
  EXPECT_EQ(kept.batchesOf(numbers), (Batches{{4, 3}, {2, 1}, {0}}));
  const BatchOrder dropped(std::vector<uint32_t>(5), 2, true);
  EXPECT_EQ(dropped.count(), 2U);
  EXPECT_EQ(dropped.samples(), 4U);
  EXPECT_EQ(dropped.batchesOf(numbers), (Batches{{4, 3}, {2, 1}}));
}

TEST(BatchOrder, BatchesAreOfOneBucket) {
  const BatchOrder order({0, 1, 0, 1, 1}, 2, false);
  EXPECT_EQ(order.count(), 3U);
  EXPECT_EQ(order.batchesOf(std::vector<size_t>{0, 1, 2, 3, 4}),
            (Batches{{0, 2}, {1, 3}, {4}}));
}

TEST(BatchOrder, ShuffledFollowsFromSeedAndEpoch) {
  const std::vector<size_t> one = shuffled(50, 3, 1);
  EXPECT_EQ(one, shuffled(50, 3, 1));
  EXPECT_NE(one, shuffled(50, 3, 2));
  EXPECT_NE(one, shuffled(50, 4, 1));
  std::vector<size_t> sorted = one;
  std::ranges::sort(sorted);
  for (size_t i = 0; i < sorted.size(); ++i)
    EXPECT_EQ(sorted[i], i);
}

} // namespace
} // namespace sinter
