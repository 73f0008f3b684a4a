#include "data/SampleRows.h"

#include <gtest/gtest.h>

#include <numeric>

namespace sinter {
namespace {

ModelInput input(Shape shape, std::vector<std::string> symbols = {}) {
  ModelInput input;
  input.spec = {"x", ElementType::F32, std::move(shape)};
  input.symbols = std::move(symbols);
  return input;
}

/// The numbers from 0 on.
Tensor counted(Shape shape) {
  Tensor tensor(ElementType::F32, std::move(shape));
  std::span<float> values = tensor.mutableValues<float>();
  std::iota(values.begin(), values.end(), 0.0F);
  return tensor;
}

struct RowsCase {
  Shape array, input;
  bool asRows;
  /// 0: one sample.
  int64_t count;
  Shape sample;
};

TEST(SampleRows, OfAnArray) {
  const RowsCase cases[] = {
      {{100, 3}, {1, 3}, false, 100, {1, 3}},
      {{1, 3}, {1, 3}, false, 0, {}},
      {{100, 3}, {4, 3}, false, 25, {4, 3}},
      {{100, 3}, {4, 3}, true, 100, {1, 3}},
      {{4, 3}, {4, 3}, false, 0, {}},
      {{4, 3}, {4, 3}, true, 4, {1, 3}},
      {{5, 3}, {-1, 3}, false, 5, {1, 3}},
      {{100, 3}, {3}, false, 100, {3}},
      {{2, 5, 3}, {-1, 3}, false, 2, {5, 3}},
      {{0, 3}, {1, 3}, false, 0, {1, 3}},
      // Of another size than a sample's, which is an error where it is loaded.
      {{100, 4}, {1, 3}, false, 0, {}},
      {{}, {1, 3}, false, 0, {}},
  };
  for (const RowsCase &each : cases) {
    const Tensor array = counted(each.array);
    auto rows = rowsIn(array, input(each.input), {.asRows = each.asRows});
    ASSERT_TRUE(rows) << toString(array.type(), each.array);
    const bool isOne = each.sample.empty();
    ASSERT_EQ(!*rows, isOne) << toString(array.type(), each.array);
    if (isOne)
      continue;
    EXPECT_EQ((*rows)->count, each.count);
    EXPECT_EQ((*rows)->shape, each.sample);
    for (int64_t i = 0; i < each.count; ++i) {
      const Tensor sample = sampleOf(array, **rows, static_cast<size_t>(i));
      EXPECT_EQ(sample.at<float>(0), static_cast<float>(i * sample.size()));
    }
  }
}

TEST(SampleRows, NoWholeNumber) {
  auto rows = rowsIn(counted({10, 3}), input({4, 3}), {});
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().kind, ErrorKind::Usage);
  EXPECT_EQ(rows.error().message(),
            "an array of 10x3xf32 is no whole number of batches of 4 for input "
            "'x'");
  // Each row is a sample, and the last batch is filled up.
  EXPECT_TRUE(rowsIn(counted({10, 3}), input({4, 3}), {.asRows = true}));
}

TEST(SampleRows, WithoutABatch) {
  const RowOptions none = {.hasBatch = false};
  EXPECT_FALSE(*rowsIn(counted({9}), input({3}), none));
  EXPECT_EQ((*rowsIn(counted({9, 3}), input({3}), none))->count, 9);
}

TEST(SampleRows, OtherTypesAndRanks) {
  const Tensor integers(ElementType::I32, {100, 3});
  EXPECT_FALSE(*rowsIn(integers, input({1, 3}), {}));
  ModelInput unranked = input({});
  unranked.ranked = false;
  EXPECT_FALSE(*rowsIn(counted({100, 3}), unranked, {}));
  ModelInput hints = input({1, 3});
  hints.sizesAreHints = true;
  // As of a dynamic batch.
  for (const bool asRows : {false, true}) {
    auto rows = rowsIn(counted({100, 4}), hints, {.asRows = asRows});
    ASSERT_TRUE(rows && *rows);
    EXPECT_EQ((*rows)->count, 100);
    EXPECT_EQ((*rows)->shape, (Shape{1, 4}));
  }
  EXPECT_EQ(batchOf({hints}, {0}).size, -1);
  EXPECT_TRUE(batchOf({hints}, {0}).has(0));
}

TEST(BatchDimension, BySizeOrSymbol) {
  const std::vector<ModelInput> inputs = {input({-1, 3}, {"N", ""}),
                                          input({-1}, {"N"}), input({}),
                                          input({-1, 2}, {"M", ""})};
  const BatchDimension batch = batchOf(inputs, {0, 1, 2, 3});
  EXPECT_EQ(batch.size, -1);
  EXPECT_EQ(batch.inputs, (std::vector<bool>{true, true, false, false}));
  // The first has none.
  EXPECT_FALSE(batchOf(inputs, {2, 0}).has(0));
  const std::vector<ModelInput> fixed = {input({4, 3}), input({4}),
                                         input({2, 4})};
  const BatchDimension four = batchOf(fixed, {0, 1, 2});
  EXPECT_EQ(four.size, 4);
  EXPECT_EQ(four.inputs, (std::vector<bool>{true, true, false}));
  EXPECT_EQ(withAnyBatch(fixed, four)[0].spec.shape, (Shape{-1, 3}));
  EXPECT_EQ(withAnyBatch(fixed, four)[2].spec.shape, (Shape{2, 4}));
  EXPECT_EQ(withAnyBatch(inputs, batch)[0].spec.shape, (Shape{-1, 3}));
  // A vector alone is no batch of numbers.
  EXPECT_TRUE(batchOf(inputs, {1}).inputs.empty());
}

TEST(StackedRows, AndBack) {
  const Tensor array = counted({2, 3});
  const Tensor rows[] = {rowOfBatch(array, 0), rowOfBatch(array, 1)};
  EXPECT_EQ(rows[1].shape(), (Shape{1, 3}));
  EXPECT_EQ(rows[1].at<float>(0), 3);
  auto both = stackedRows(rows, 0);
  ASSERT_TRUE(both);
  EXPECT_EQ(both->shape(), (Shape{2, 3}));
  EXPECT_EQ(std::memcmp(both->data(), array.data(), array.bytes()), 0);
  auto padded = stackedRows(rows, 4);
  ASSERT_TRUE(padded);
  EXPECT_EQ(padded->shape(), (Shape{4, 3}));
  EXPECT_EQ(padded->at<float>(5), 5);
  for (int64_t i = 6; i < 12; ++i)
    EXPECT_EQ(padded->at<float>(i), 0);
}

} // namespace
} // namespace sinter
