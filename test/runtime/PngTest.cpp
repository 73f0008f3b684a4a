#include "runtime/Png.h"

#include "runtime/Image.h"

#include <gtest/gtest.h>

namespace sinter {
namespace {

Tensor bytes(Shape shape, std::vector<uint8_t> values) {
  return Tensor::of<uint8_t>(ElementType::UI8, std::move(shape), values);
}

std::span<const std::byte> bytesOf(const std::string &file) {
  return std::as_bytes(std::span(file));
}

// The first colours of the PASCAL VOC challenge's palette, and the last.
TEST(ClassColour, OfTheChallenge) {
  EXPECT_EQ(classColour(0), (Colour{0, 0, 0}));
  EXPECT_EQ(classColour(1), (Colour{128, 0, 0}));
  EXPECT_EQ(classColour(2), (Colour{0, 128, 0}));
  EXPECT_EQ(classColour(3), (Colour{128, 128, 0}));
  EXPECT_EQ(classColour(8), (Colour{64, 0, 0}));
  EXPECT_EQ(classColour(15), (Colour{192, 128, 128}));
  EXPECT_EQ(classColour(255), (Colour{224, 224, 192}));
}

TEST(ClassMap, ThereAndBack) {
  const Tensor map = bytes({2, 3}, {0, 1, 255, 7, 8, 0});
  const Result<std::string> file = encodeClassMap(map);
  ASSERT_TRUE(file) << file.error().message();
  const Result<Tensor> back = decodeClassMap(bytesOf(*file), "a.png");
  ASSERT_TRUE(back) << back.error().message();
  ASSERT_EQ(back->shape(), map.shape());
  for (int64_t i = 0; i < map.size(); ++i)
    EXPECT_EQ(back->toInteger(i), map.toInteger(i));
  // As an image it has the palette's colours.
  const Result<Tensor> image = decodeImage(bytesOf(*file), "a.png");
  ASSERT_TRUE(image);
  EXPECT_EQ(image->at<uint8_t>(3), 128);
  EXPECT_EQ(image->at<uint8_t>(4), 0);
}

TEST(ClassMap, OfGreyImages) {
  const Result<std::string> file = encodePng(bytes({1, 2, 1}, {3, 200}));
  ASSERT_TRUE(file);
  const Result<Tensor> map = decodeClassMap(bytesOf(*file), "a.png");
  ASSERT_TRUE(map) << map.error().message();
  EXPECT_EQ(map->toInteger(0), 3);
  EXPECT_EQ(map->toInteger(1), 200);
}

TEST(EncodePng, Colours) {
  const Tensor image = bytes({1, 2, 3}, {1, 2, 3, 250, 251, 252});
  const Result<std::string> file = encodePng(image);
  ASSERT_TRUE(file);
  const Result<Tensor> back = decodeImage(bytesOf(*file), "a.png");
  ASSERT_TRUE(back);
  for (int64_t i = 0; i < image.size(); ++i)
    EXPECT_EQ(back->toInteger(i), image.toInteger(i));
  // Colours are no classes.
  const Result<Tensor> map = decodeClassMap(bytesOf(*file), "a.png");
  ASSERT_FALSE(map);
  EXPECT_EQ(map.error().kind, ErrorKind::Usage);
}

TEST(Png, WhatIsNone) {
  EXPECT_FALSE(encodePng(bytes({1, 1, 2}, {0, 0})));
  EXPECT_FALSE(encodePng(bytes({0, 4, 3}, {})));
  EXPECT_FALSE(encodePng(bytes({4}, {0, 0, 0, 0})));
  EXPECT_FALSE(encodeClassMap(Tensor(ElementType::F32, {2, 2})));
  const std::string file = *encodePng(bytes({1, 2, 1}, {3, 200}));
  for (size_t size : {size_t(0), size_t(8), size_t(30), file.size() - 20}) {
    const Result<Tensor> map =
        decodeClassMap(bytesOf(file).first(size), "a.png");
    ASSERT_FALSE(map) << size;
    EXPECT_EQ(map.error().kind, ErrorKind::System);
    EXPECT_NE(map.error().message().find("a.png"), std::string::npos);
  }
}

} // namespace
} // namespace sinter
