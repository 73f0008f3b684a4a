// Covers: runtime/image Bmp Gif Jpeg Orientation Png Tiff WebP
// Values of files of all kinds are compared with Pillow's in
// test/driver/PreprocessingTest.py.

#include "runtime/image/Decoders.h"
#include "runtime/ByteStream.h"
#include "runtime/Image.h"

#include <gtest/gtest.h>

using namespace sinter;

namespace {

/// One row of three pixels: 1, 2, 3; and a second one: 4, 5, 6.
Tensor sixPixels() {
  return Tensor::of<uint8_t>(ElementType::UI8, {2, 3, 1},
                             std::vector<uint8_t>{1, 2, 3, 4, 5, 6});
}

TEST(Upright, AllOrientations) {
  const std::vector<std::pair<Shape, std::vector<uint8_t>>> expected = {
      {{2, 3, 1}, {1, 2, 3, 4, 5, 6}}, {{2, 3, 1}, {3, 2, 1, 6, 5, 4}},
      {{2, 3, 1}, {6, 5, 4, 3, 2, 1}}, {{2, 3, 1}, {4, 5, 6, 1, 2, 3}},
      {{3, 2, 1}, {1, 4, 2, 5, 3, 6}}, {{3, 2, 1}, {4, 1, 5, 2, 6, 3}},
      {{3, 2, 1}, {6, 3, 5, 2, 4, 1}}, {{3, 2, 1}, {3, 6, 2, 5, 1, 4}}};
  for (unsigned i = 0; i < expected.size(); ++i) {
    const Tensor turned = images::upright(sixPixels(), i + 1);
    EXPECT_EQ(turned.shape(), expected[i].first) << i + 1;
    const auto values = turned.values<uint8_t>();
    EXPECT_EQ(std::vector<uint8_t>(values.begin(), values.end()),
              expected[i].second)
        << i + 1;
  }
}

std::string exifOf(bool isBigEndian, uint16_t value, uint16_t type = 3) {
  const auto number = [&](uint32_t number, size_t size) {
    std::string text;
    for (size_t i = 0; i < size; ++i)
      text += static_cast<char>(number >> 8 * (isBigEndian ? size - 1 - i : i));
    return text;
  };
  return (isBigEndian ? "MM" : "II") + number(42, 2) + number(8, 4) +
         number(2, 2) + number(0x010f, 2) + number(2, 2) + number(1, 4) +
         number(0, 4) + number(0x0112, 2) + number(type, 2) + number(1, 4) +
         number(value, 2) + number(0, 2) + number(0, 4);
}

TEST(ExifOrientation, BothByteOrdersAndNonsense) {
  for (bool isBigEndian : {false, true}) {
    EXPECT_EQ(images::exifOrientation(bytesOf(exifOf(isBigEndian, 6))), 6U);
    EXPECT_EQ(images::exifOrientation(bytesOf(exifOf(isBigEndian, 9))), 1U);
    EXPECT_EQ(images::exifOrientation(bytesOf(exifOf(isBigEndian, 6, 4))), 1U);
    const std::string whole = exifOf(isBigEndian, 6);
    for (size_t size = 0; size < 32; ++size)
      EXPECT_EQ(images::exifOrientation(bytesOf(whole.substr(0, size))), 1U);
  }
}

/// A BMP of 2x2 pixels.
std::string bmpOf(uint16_t bits, uint32_t compression,
                  const std::string &behindHeader, const std::string &data,
                  int32_t height = 2, int32_t width = 2, uint32_t colours = 0) {
  ByteWriter out;
  out.raw(bytesOf("BM"));
  out.number(uint32_t(54 + behindHeader.size() + data.size()));
  out.number<uint32_t>(0);
  out.number(uint32_t(54 + behindHeader.size()));
  out.number<uint32_t>(40);
  out.number(width);
  out.number(height);
  out.number<uint16_t>(1);
  out.number(bits);
  out.number(compression);
  out.number<uint32_t>(0);
  out.number<uint32_t>(0);
  out.number<uint32_t>(0);
  out.number(colours);
  out.number<uint32_t>(0);
  out.raw(bytesOf(behindHeader));
  out.raw(bytesOf(data));
  return {reinterpret_cast<const char *>(out.bytes().data()), out.size()};
}

std::vector<int> redsOf(const std::string &file) {
  Result<Tensor> image = decodeImage(bytesOf(file), "x");
  EXPECT_TRUE(image) << image.error().message();
  std::vector<int> reds;
  for (int64_t i = 0; image && i < image->size(); i += 3)
    reds.push_back(image->at<uint8_t>(i));
  return reds;
}

std::string whyNoImage(const std::string &file) {
  Result<Tensor> image = decodeImage(bytesOf(file), "x");
  EXPECT_FALSE(image);
  return image ? "" : image.error().message();
}

using namespace std::string_literals;

TEST(Bmp, BitsAPixelAndRowOrders) {
  // Rows from below, padded to four bytes.
  EXPECT_EQ(redsOf(bmpOf(24, 0, "",
                         "\1\2\3\4\5\6\0\0"
                         "\7\10\11\12\13\14\0\0"s)),
            (std::vector<int>{9, 12, 3, 6}));
  EXPECT_EQ(redsOf(bmpOf(24, 0, "",
                         "\1\2\3\4\5\6\0\0"
                         "\7\10\11\12\13\14\0\0"s,
                         -2)),
            (std::vector<int>{3, 6, 9, 12}));
  const std::string palette = "\0\0\12\0\0\0\24\0"s;
  EXPECT_EQ(redsOf(bmpOf(8, 0, palette, "\0\1\0\0\1\0\0\0"s, -2, 2, 2)),
            (std::vector<int>{10, 20, 20, 10}));
  EXPECT_EQ(redsOf(bmpOf(4, 0, palette, "\1\0\0\0\20\0\0\0"s, -2, 2, 2)),
            (std::vector<int>{10, 20, 20, 10}));
  EXPECT_EQ(redsOf(bmpOf(1, 0, palette, "\x40\0\0\0\x80\0\0\0"s, -2, 2, 2)),
            (std::vector<int>{10, 20, 20, 10}));
  // An index behind the palette is black.
  EXPECT_EQ(redsOf(bmpOf(8, 0, palette, "\2\1\0\0\1\0\0\0"s, -2, 2, 2)),
            (std::vector<int>{0, 20, 20, 10}));
  // 5 bits for each colour, and 5, 6 and 5.
  EXPECT_EQ(redsOf(bmpOf(16, 0, "", "\0\x7c\0\x40\0\0\0\x04"s, -2)),
            (std::vector<int>{255, 132, 0, 8}));
  EXPECT_EQ(redsOf(bmpOf(16, 3, "\0\xf8\0\0\xe0\7\0\0\x1f\0\0\0"s,
                         "\0\xf8\0\x80\0\0\0\x08"s, -2)),
            (std::vector<int>{255, 132, 0, 8}));
  EXPECT_EQ(redsOf(bmpOf(32, 3, "\xff\0\0\0\0\xff\0\0\0\0\xff\0"s,
                         "\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0"s, -2)),
            (std::vector<int>{1, 2, 3, 4}));
}

TEST(Bmp, WhatIsRefused) {
  const std::string data = "\0\0\0\0\0\0\0\0"s;
  EXPECT_NE(
      whyNoImage(bmpOf(8, 1, std::string(1024, '\0'), data)).find("run-length"),
      std::string::npos);
  EXPECT_NE(whyNoImage(bmpOf(8, 0, "", data)).find("palette"),
            std::string::npos);
  EXPECT_NE(whyNoImage(bmpOf(24, 0, "", "\0\0\0\0"s)).find("too early"),
            std::string::npos);
  EXPECT_NE(whyNoImage(bmpOf(7, 0, "", data)).find("7 bits"),
            std::string::npos);
  EXPECT_NE(whyNoImage(bmpOf(24, 0, "", data, 0)).find("without pixels"),
            std::string::npos);
  EXPECT_NE(whyNoImage(bmpOf(24, 0, "", data, INT32_MIN)).find("too large"),
            std::string::npos);
  EXPECT_NE(
      whyNoImage(bmpOf(24, 0, "", data, 1 << 20, 1 << 20)).find("too large"),
      std::string::npos);
  EXPECT_NE(
      whyNoImage(bmpOf(16, 3, "\5\0\0\0\0\0\0\0\0\0\0\0"s, data)).find("masks"),
      std::string::npos);
}

/// Every prefix of \p file, and each of its bytes as other values: no crash,
/// and an error where data are missing.
void damage(const std::string &file) {
  ASSERT_TRUE(decodeImage(bytesOf(file), "x"))
      << decodeImage(bytesOf(file), "x").error().message();
  for (size_t size = 0; size < file.size(); ++size)
    (void)decodeImage(bytesOf(file.substr(0, size)), "x");
  for (size_t i = 0; i < file.size(); ++i)
    for (unsigned value : {0x00U, 0x01U, 0x7fU, 0x80U, 0xffU}) {
      std::string bad = file;
      bad[i] = static_cast<char>(value);
      (void)decodeImage(bytesOf(bad), "x");
    }
}

/// GIF89a of 2x2 pixels with two colours, 1 0 / 0 1, behind a comment.
std::string smallGif() {
  return "GIF89a\2\0\2\0\x80\0\0\12\0\0\24\0\0"
         "\x21\xfe\2hi\0"
         "\x2c\0\0\0\0\2\0\2\0\0\2\3\x0c\x10\5\0\x3b"s;
}

TEST(Gif, FirstFrame) {
  EXPECT_EQ(redsOf(smallGif()), (std::vector<int>{20, 10, 10, 20}));
  damage(smallGif());
}

TEST(Gif, FrameOutsideOfTheImage) {
  std::string file = smallGif();
  file[file.find('\x2c') + 1] = 1;
  EXPECT_NE(whyNoImage(file).find("lies outside"), std::string::npos);
}

/// A TIFF of 2x2 grey pixels without compression, 1 2 / 3 4.
std::string smallTiff(uint16_t orientation) {
  ByteWriter out;
  out.raw(bytesOf("II*\0"s));
  out.number<uint32_t>(8);
  const std::vector<std::array<uint32_t, 3>> entries = {
      {256, 3, 2},           {257, 3, 2}, {258, 3, 8},
      {259, 3, 1},           {262, 3, 1}, {273, 4, 122},
      {274, 3, orientation}, {278, 3, 2}, {279, 4, 4}};
  out.number(uint16_t(entries.size()));
  for (const auto &[tag, type, value] : entries) {
    out.number(uint16_t(tag));
    out.number(uint16_t(type));
    out.number<uint32_t>(1);
    out.number(value);
  }
  out.number<uint32_t>(0);
  out.raw(bytesOf("\1\2\3\4"s));
  return {reinterpret_cast<const char *>(out.bytes().data()), out.size()};
}

TEST(Tiff, Orientations) {
  const std::vector<uint8_t> expected[] = {
      {1, 2, 3, 4}, {2, 1, 4, 3}, {4, 3, 2, 1}, {3, 4, 1, 2},
      {1, 3, 2, 4}, {3, 1, 4, 2}, {4, 2, 3, 1}, {2, 4, 1, 3}};
  for (uint16_t orientation = 1; orientation <= 8; ++orientation) {
    auto image = decodeImage(bytesOf(smallTiff(orientation)), "x");
    ASSERT_TRUE(image) << image.error().message();
    EXPECT_EQ(image->shape(), (Shape{2, 2, 1}));
    const auto values = image->values<uint8_t>();
    EXPECT_EQ(std::vector<uint8_t>(values.begin(), values.end()),
              expected[orientation - 1])
        << orientation;
  }
}

TEST(Decoders, DamagedFiles) {
  damage(smallTiff(1));
  damage(bmpOf(24, 0, "", std::string(16, '\5')));
  damage(bmpOf(8, 0, std::string(1024, '\3'), std::string(8, '\1')));
}

TEST(WebP, NoWebP) {
  EXPECT_NE(whyNoImage("RIFF\4\0\0\0WEBP"s).find("damaged"), std::string::npos);
}

} // namespace
