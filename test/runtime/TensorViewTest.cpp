//===- TensorViewTest.cpp - memory of a caller as a tensor ----------------===//

#include "runtime/TensorView.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace sinter;

namespace {

using Sizes = std::vector<int64_t>;

/// A view of i32 elements in \p memory with strides in elements.
struct Strided {
  Sizes shape, strides;
  std::byte *data;

  Strided(Sizes shape, const Sizes &inElements, void *data)
      : shape(std::move(shape)),
        strides(*stridesInBytes(ElementType::I32, inElements)),
        data(static_cast<std::byte *>(data)) {}
  MutableTensorView view() const {
    return {ElementType::I32, shape, data, strides};
  }
};

std::string wrongWith(const TensorView &view) {
  auto range = addressesOf(view);
  return range ? "" : range.error().message();
}

TEST(TensorViewTest, SaysWhatIsWrong) {
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  int32_t memory[8] = {};
  auto wrong = [&](const Sizes &shape, const Sizes &strides, void *data) {
    return wrongWith({ElementType::I32, shape, data, strides});
  };
  EXPECT_EQ(wrong({2, 4}, {16, 4}, memory), "");
  EXPECT_EQ(wrong({2, 4}, {}, memory), "");
  EXPECT_EQ(wrong({}, {}, memory), "");
  EXPECT_EQ(wrong({2, -4}, {}, memory), "2x?xi32 has a negative size");
  EXPECT_EQ(wrong({most, 4}, {}, memory),
            std::to_string(most) + "x4xi32 has more bytes than can be counted");
  EXPECT_EQ(wrong({2, 4}, {4}, memory), "2x4xi32 has 1 strides");
  EXPECT_EQ(wrong({2, 4}, {}, nullptr), "2x4xi32 is at a null pointer");
  EXPECT_EQ(wrong({3, 4}, {most, 4}, memory),
            "3x4xi32 has strides that overflow");
  EXPECT_EQ(wrong({2, 4}, {most, 4}, memory),
            "2x4xi32 has strides that overflow");
  EXPECT_EQ(wrong({2, 4}, {most - 100, 4}, memory),
            "2x4xi32 has strides that lead out of the address space");
  EXPECT_EQ(wrong({2, 4}, {-(int64_t(1) << 55), 4}, memory),
            "2x4xi32 has strides that lead out of the address space");
  // Nothing is read where there are no elements, or no second one.
  EXPECT_EQ(wrong({2, 0}, {most, most}, nullptr), "");
  EXPECT_EQ(wrong({1, 1}, {most, -most}, memory), "");
  EXPECT_FALSE(stridesInBytes(ElementType::F64, Sizes{most / 4}));
}

TEST(TensorViewTest, KnowsWhichBytesThereAre) {
  int32_t memory[24] = {};
  const auto first = reinterpret_cast<uintptr_t>(memory);
  auto from = [&](const Strided &of) {
    const AddressRange range = *addressesOf(of.view());
    return std::pair(range.begin - first, range.end - first);
  };
  EXPECT_EQ(from({{2, 3}, {3, 1}, memory}), std::pair(0ul, 24ul));
  EXPECT_EQ(from({{2, 3}, {-3, 1}, memory + 3}), std::pair(0ul, 24ul));
  EXPECT_EQ(from({{2, 3}, {0, 2}, memory}), std::pair(0ul, 20ul));
  EXPECT_EQ(from({{0, 3}, {3, 1}, memory}), std::pair(0ul, 0ul));
}

TEST(TensorViewTest, KnowsWhatHasNoGaps) {
  int32_t memory[64] = {};
  EXPECT_TRUE(isDense(Strided({2, 3, 4}, {12, 4, 1}, memory).view()));
  EXPECT_TRUE(isDense(Strided({2, 1, 4}, {4, 99, 1}, memory).view()));
  EXPECT_TRUE(isDense(Strided({1, 0}, {7, 7}, memory).view()));
  EXPECT_FALSE(isDense(Strided({3, 2}, {1, 3}, memory).view()));
  EXPECT_FALSE(isDense(Strided({3, 2}, {3, 1}, memory).view()));
  EXPECT_FALSE(isDense(Strided({3}, {0}, memory).view()));
  EXPECT_FALSE(isDense(Strided({3}, {-1}, memory + 2).view()));
}

TEST(TensorViewTest, FindsElementsThatShareMemory) {
  int32_t memory[64] = {};
  auto selves = [&](const Sizes &shape, const Sizes &strides) {
    return overlapsItself(Strided(shape, strides, memory + 20).view());
  };
  EXPECT_FALSE(selves({3, 4}, {4, 1}));
  EXPECT_FALSE(selves({3, 4}, {1, 3}));
  EXPECT_FALSE(selves({3, 4}, {-4, 1}));
  EXPECT_TRUE(selves({3, 4}, {0, 1}));
  EXPECT_TRUE(selves({3, 4}, {1, 1}));
  EXPECT_FALSE(selves({1, 4}, {0, 1}));
  // No dimension steps over the other, and yet none meets.
  EXPECT_FALSE(selves({3, 2}, {2, 3}));
  EXPECT_TRUE(selves({4, 2}, {2, 6}));
  // An odd distance in bytes.
  const Sizes shape = {2}, strides = {2};
  EXPECT_TRUE(
      overlapsItself(TensorView{ElementType::I32, shape, memory, strides}));
}

TEST(TensorViewTest, FindsViewsThatShareMemory) {
  int32_t memory[64] = {};
  const Strided left({4, 2}, {4, 1}, memory), right({4, 2}, {4, 1}, memory + 2),
      all({4, 4}, {4, 1}, memory), behind({4}, {1}, memory + 16),
      none({0}, {1}, memory + 3);
  EXPECT_FALSE(overlap(left.view(), right.view()));
  EXPECT_TRUE(overlap(left.view(), all.view()));
  EXPECT_TRUE(overlap(all.view(), right.view()));
  EXPECT_FALSE(overlap(all.view(), behind.view()));
  EXPECT_FALSE(overlap(all.view(), none.view()));
  const Strided odd({4, 2}, {4, 1}, reinterpret_cast<std::byte *>(memory) + 7);
  EXPECT_TRUE(overlap(left.view(), odd.view()));
}

/// Against one element after the other.
TEST(TensorViewTest, CopiesWhateverTheStrides) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    const size_t rank = random() % 5;
    Sizes shape, from(rank), to(rank);
    for (size_t dim = 0; dim < rank; ++dim)
      shape.push_back(random() % 8 == 0 ? 0 : 1 + random() % 4);
    // Any order of dimensions, some backwards, with gaps; the source may repeat
    // elements.
    auto stride = [&](Sizes &strides, bool mayRepeat) {
      std::vector<size_t> order(rank);
      for (size_t dim = 0; dim < rank; ++dim)
        order[dim] = dim;
      if (random() % 2)
        std::ranges::shuffle(order, random);
      int64_t next = 1, least = 0;
      for (size_t dim : order) {
        strides[dim] = next * (random() % 3 == 0 ? -1 : 1);
        if (mayRepeat && random() % 5 == 0)
          strides[dim] = 0;
        next = next * std::max<int64_t>(shape[dim], 1) +
               (random() % 2 ? int64_t(random() % 3) : 0);
        if (strides[dim] < 0 && shape[dim] > 0)
          least += strides[dim] * (shape[dim] - 1);
      }
      return -least;
    };
    std::vector<int32_t> source(20000), target(20000, -1), wanted(20000, -1);
    for (size_t i = 0; i < source.size(); ++i)
      source[i] = static_cast<int32_t>(i);
    const int64_t fromFirst = stride(from, true), toFirst = stride(to, false);
    const Strided read(shape, from, source.data() + fromFirst),
        written(shape, to, target.data() + toFirst);
    ASSERT_EQ(wrongWith(read.view()), "");
    ASSERT_EQ(wrongWith(written.view()), "");
    ASSERT_FALSE(overlapsItself(written.view()));
    for (int64_t each = 0; each < *elementCount(shape); ++each) {
      int64_t rest = each, at = fromFirst, there = toFirst;
      for (size_t dim = rank; dim-- > 0; rest /= shape[dim]) {
        at += rest % shape[dim] * from[dim];
        there += rest % shape[dim] * to[dim];
      }
      wanted[there] = source[at];
    }
    copyElements(read.view(), written.view());
    ASSERT_EQ(target, wanted);
  }
}

TEST(TensorViewTest, CopiesElementsOfAnySize) {
  for (ElementType type : {ElementType::I8, ElementType::F16, ElementType::F32,
                           ElementType::F64, ElementType::C128}) {
    const auto size = static_cast<int64_t>(byteSize(type));
    std::vector<std::byte> source(10 * size + 1), target(10 * size + 3);
    for (size_t i = 0; i < source.size(); ++i)
      source[i] = static_cast<std::byte>(i);
    const Sizes shape = {5}, from = {-2 * size}, to = {2 * size};
    copyElements({type, shape, source.data() + 1 + 8 * size, from},
                 {type, shape, target.data() + 3, to});
    for (int64_t i = 0; i < 5; ++i)
      EXPECT_EQ(std::memcmp(target.data() + 3 + 2 * i * size,
                            source.data() + 1 + (8 - 2 * i) * size, size),
                0);
  }
}

} // namespace
