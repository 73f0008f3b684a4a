#include "runtime/Random.h"
#include "runtime/Strings.h"

#include <gtest/gtest.h>

#include <set>

using namespace sinter;

namespace {

TEST(RandomTest, ReferenceOutputs) {
  // The published test vector of SplitMix64 with seed 1234567.
  EXPECT_EQ(splitMix(1234567, 0), 6457827717110365317u);
  EXPECT_EQ(splitMix(1234567, 1), 3203168211198807973u);
}

TEST(RandomTest, EveryTypeStaysInRange){
#define X(enumerator, text, bytes, bits, kind)                                 \
  if (ElementType::enumerator != ElementType::STRING) {                        \
    Tensor tensor(ElementType::enumerator, {500});                             \
    fillRandom(tensor, 7);                                                     \
    bool varies = false;                                                       \
    for (int64_t i = 0; i < 500; ++i) {                                        \
      double value = tensor.toDouble(i);                                       \
      varies |= value != tensor.toDouble(0);                                   \
      bool real = !isInteger(ElementType::enumerator);                         \
      EXPECT_GE(value, real ? -1 : 0) << text;                                 \
      EXPECT_LT(value, real ? 1 : 16) << text;                                 \
    }                                                                          \
    EXPECT_TRUE(varies) << text;                                               \
  }
    SINTER_ELEMENT_TYPES(X)
#undef X
}

TEST(RandomTest, NarrowIntegersFit) {
  Tensor tensor(ElementType::I2, {100});
  fillRandom(tensor, 1);
  for (int64_t i = 0; i < 100; ++i)
    EXPECT_LT(tensor.toInteger(i), 2);
}

TEST(RandomTest, StringsAreWords) {
  Tensor tensor(ElementType::STRING, {100});
  fillRandom(tensor, 1);
  std::set<std::string_view> words;
  for (int64_t i = 0; i < 100; ++i)
    words.insert(stringAt(tensor, i));
  EXPECT_EQ(words.size(), 8u);
}

TEST(RandomTest, SeedsDiffer) {
  Tensor a(ElementType::F32, {4}), b(ElementType::F32, {4});
  fillRandom(a, 1);
  fillRandom(b, 2);
  EXPECT_NE(a.at<float>(0), b.at<float>(0));
}

} // namespace
