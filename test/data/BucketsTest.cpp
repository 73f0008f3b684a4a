#include "data/Buckets.h"

#include <gtest/gtest.h>

namespace sinter {
namespace {

ModelDescription sequenceModel(const std::string &dimension) {
  ModelDescription model;
  ModelInput input;
  input.spec = {"x", ElementType::F32, {-1, -1}};
  input.symbols = {"N", dimension};
  model.inputs = {input};
  return model;
}

Tensor lengthsOf(const std::vector<int64_t> &lengths) {
  return Tensor::of<int64_t>(ElementType::I64,
                             {static_cast<int64_t>(lengths.size())}, lengths);
}

TEST(Buckets, Parse) {
  auto plain = parseBuckets("2,4");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->sizes, (std::vector<int64_t>{2, 4}));
  auto named = parseBuckets("length=8");
  ASSERT_TRUE(named);
  EXPECT_EQ(named->dimension, "length");
  for (const char *bad : {"", "4,2", "0", "=4", "4,", "x"})
    EXPECT_FALSE(parseBuckets(bad)) << bad;
}

TEST(Buckets, CutToTheSizeOfTheBucket) {
  const std::vector<Tensor> inputs = {Tensor(ElementType::F32, {3, 4})},
                            targets = {Tensor(ElementType::I64, {3, 4})};
  Result<Buckets> buckets =
      Buckets::of({"", {2, 4}}, sequenceModel("length"), inputs, targets,
                  {nullptr}, lengthsOf({1, 4, 2}), "data");
  ASSERT_TRUE(buckets) << buckets.error().message();
  EXPECT_EQ(buckets->ofSamples(), (std::vector<uint32_t>{0, 1, 0}));
  std::vector<Tensor> some = inputs, labels = targets;
  buckets->cut(0, some, labels);
  EXPECT_EQ(some[0].shape(), (Shape{3, 2}));
  EXPECT_EQ(labels[0].shape(), (Shape{3, 2}));
  buckets->cut(1, some = inputs, labels = targets);
  EXPECT_EQ(some[0].shape(), (Shape{3, 4}));
}

TEST(Buckets, Refused) {
  const std::vector<Tensor> inputs = {Tensor(ElementType::F32, {1, 4})},
                            targets = {Tensor(ElementType::I64, {1})};
  const auto messageOf = [&](const BucketOptions &options,
                             const std::string &dimension, int64_t length) {
    Result<Buckets> made =
        Buckets::of(options, sequenceModel(dimension), inputs, targets,
                    {nullptr}, lengthsOf({length}), "data");
    return made ? "" : made.error().message();
  };
  EXPECT_EQ(messageOf({"width", {4}}, "length", 2),
            "buckets: there is no unknown dimension 'width'; the model's "
            "inputs have length (buckets NAME=SIZES)");
  EXPECT_EQ(messageOf({"", {4}}, "", 2),
            "buckets: none of the model's inputs has an unknown dimension with "
            "a name, but for those of samples");
  EXPECT_EQ(messageOf({"", {2}}, "length", 3),
            "data: sample 0 has the length 3; the arrays hold 4, and the "
            "largest bucket 2");
}

} // namespace
} // namespace sinter
