#include "train/Checkpoints.h"
#include "TemporaryFolder.h"

#include <gtest/gtest.h>

namespace sinter {
namespace {

namespace fs = std::filesystem;

Checkpoint checkpointAfter(uint64_t steps) {
  const std::vector<float> numbers = {1, 2, static_cast<float>(steps)};
  return {steps,
          {{"epoch", steps}},
          {{"seed", 3}},
          {{"w", Tensor::of<float>(ElementType::F32, {3}, numbers)}}};
}

class CheckpointsTest : public testing::Test {
protected:
  Result<void> write(uint64_t steps, size_t kept,
                     std::optional<uint64_t> best = std::nullopt) {
    return writeCheckpoint(folder.path(), checkpointAfter(steps), kept, best);
  }

  test::TemporaryFolder folder;
};

TEST_F(CheckpointsTest, NewestComesBack) {
  auto none = newestCheckpoint(folder.path());
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
  ASSERT_TRUE(write(9, 3));
  ASSERT_TRUE(write(10, 3));
  auto newest = newestCheckpoint(folder.path());
  ASSERT_TRUE(newest && *newest);
  EXPECT_EQ((*newest)->steps, 10U);
  EXPECT_EQ((*newest)->progress, checkpointAfter(10).progress);
  ASSERT_EQ((*newest)->states.size(), 1U);
  EXPECT_EQ((*newest)->states[0].first, "w");
  EXPECT_EQ((*newest)->states[0].second.at<float>(2), 10);
}

TEST_F(CheckpointsTest, OldOnesGoButForTheBest) {
  for (uint64_t steps : {1, 2, 3, 4})
    ASSERT_TRUE(write(steps, 2, 1));
  EXPECT_TRUE(checkpointOf(folder.path(), 1));
  EXPECT_FALSE(checkpointOf(folder.path(), 2));
  EXPECT_TRUE(checkpointOf(folder.path(), 3));
  EXPECT_EQ(folder.entries(), 3U);
}

TEST_F(CheckpointsTest, DamageIsAnError) {
  ASSERT_TRUE(write(5, 1));
  const fs::path file = folder.file("step-0000000005/0.npy");
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp(-1, std::ios::end);
  stream.put('x');
  stream.close();
  auto newest = newestCheckpoint(folder.path());
  ASSERT_FALSE(newest);
  EXPECT_EQ(newest.error().kind, ErrorKind::System);
  EXPECT_NE(newest.error().message().find("is damaged"), std::string::npos);
}

TEST_F(CheckpointsTest, FolderThatCannotBeMade) {
  folder.write("file", "");
  Result<void> written =
      writeCheckpoint(folder.file("file"), checkpointAfter(1), 1);
  ASSERT_FALSE(written);
  EXPECT_TRUE(
      written.error().message().starts_with("checkpointFolder: cannot write '"))
      << written.error().message();
}

TEST_F(CheckpointsTest, OtherSettings) {
  const Checkpoint one = checkpointAfter(1);
  EXPECT_TRUE(checkSettings("runs", one, {{"seed", 3}}));
  Result<void> other = checkSettings("runs", one, {{"seed", 4}});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message(),
            "resumes: the run in 'runs' had another seed (3, now 4)");
  EXPECT_FALSE(checkSettings("runs", one, {{"seed", 3}, {"more", 1}}));
}

} // namespace
} // namespace sinter
