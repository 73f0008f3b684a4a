// Covers: runtime ElementType Role TensorText

#include "runtime/Tensor.h"

#include <gtest/gtest.h>

#include <limits>

using namespace sinter;

namespace {

constexpr int64_t big = std::numeric_limits<int64_t>::max();

TEST(ElementTypeTest, TextFormsRoundTrip) {
#define X(enumerator, text, bytes, bits, kind)                                 \
  EXPECT_EQ(name(ElementType::enumerator), text);                              \
  EXPECT_EQ(parseElementType(text), ElementType::enumerator);                  \
  EXPECT_EQ(byteSize(ElementType::enumerator), size_t(bytes));
  SINTER_ELEMENT_TYPES(X)
#undef X
  EXPECT_FALSE(parseElementType("f33"));
  EXPECT_EQ(bitWidth(ElementType::I4), 4u);
  EXPECT_TRUE(isFloat(ElementType::F8E5M2));
  EXPECT_TRUE(isInteger(ElementType::I1));
  EXPECT_FALSE(isInteger(ElementType::C64));
}

TEST(TensorTest, CountsAreChecked) {
  EXPECT_EQ(elementCount(Shape{}), 1);
  EXPECT_EQ(elementCount(Shape{2, 3}), 6);
  EXPECT_EQ(elementCount(Shape{big, big, 0}), 0);
  EXPECT_FALSE(elementCount(Shape{big, 2}));
  EXPECT_FALSE(elementCount(Shape{0, -1}));
  EXPECT_FALSE(byteCount(ElementType::F32, Shape{big / 2}));
  EXPECT_EQ(byteCount(ElementType::C128, Shape{3}), 48);
}

TEST(TensorTest, PrintsLikeMlir) {
  EXPECT_EQ(toString(ElementType::F32, Shape{2, -1}), "2x?xf32");
  EXPECT_EQ(toString(ElementType::C64, Shape{}), "complex<f32>");
}

TEST(TensorTest, FreshTensorIsZeroAndAligned) {
  Tensor tensor(ElementType::F32, {3, 5});
  EXPECT_TRUE(tensor.isAligned());
  EXPECT_EQ(tensor.bytes(), 60u);
  for (float value : tensor.values<float>())
    EXPECT_EQ(value, 0.0f);
}

TEST(TensorTest, SharedBytesMayBeUnaligned) {
  auto bytes = std::make_shared<std::vector<char>>(9);
  float value = 2.5f;
  std::memcpy(bytes->data() + 1, &value, 4);
  Tensor shared =
      Tensor::share(ElementType::F32, {2}, bytes->data() + 1, bytes);
  std::weak_ptr<std::vector<char>> watch = bytes;
  bytes.reset();
  EXPECT_FALSE(watch.expired());
  EXPECT_EQ(shared.at<float>(0), 2.5f);
  Tensor owned = shared.owned();
  shared = Tensor();
  EXPECT_TRUE(watch.expired());
  EXPECT_TRUE(owned.isAligned());
  EXPECT_EQ(owned.toDouble(0), 2.5);
}

TEST(TensorTest, ElementsReadAsNumbers) {
  Tensor halves = Tensor::of<uint16_t>(ElementType::F16, {2},
                                       std::vector<uint16_t>{0x3E00, 0xFC00});
  EXPECT_EQ(halves.toDouble(0), 1.5);
  EXPECT_EQ(halves.toInteger(1), std::numeric_limits<int64_t>::min());
  Tensor longs =
      Tensor::of<int64_t>(ElementType::I64, {1}, std::vector<int64_t>{big});
  EXPECT_EQ(longs.toInteger(0), big);
  Tensor nibble =
      Tensor::of<int8_t>(ElementType::I4, {1}, std::vector<int8_t>{-8});
  EXPECT_EQ(nibble.toInteger(0), -8);
}

TEST(TensorTest, ReshapedSharesTheBytes) {
  Tensor tensor(ElementType::I32, {2, 3});
  EXPECT_EQ(tensor.reshaped({6}).data(), tensor.data());
}

} // namespace
