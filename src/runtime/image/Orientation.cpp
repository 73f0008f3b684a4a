//===- Orientation.cpp - images turned upright ----------------------------===//

#include "runtime/image/Decoders.h"

#include <cstring>

namespace sinter::images {

Tensor upright(Tensor image, unsigned orientation) {
  if (orientation < 2 || orientation > 8)
    return image;
  const bool isTransposed = orientation >= 5;
  // In the image as it is, before it is transposed.
  const bool flipsRows = orientation == 3 || orientation == 4 ||
                         orientation == 6 || orientation == 7;
  const bool flipsColumns = orientation == 2 || orientation == 3 ||
                            orientation == 7 || orientation == 8;
  const int64_t height = image.dim(0), width = image.dim(1);
  const auto channels = static_cast<size_t>(image.dim(2));
  Tensor result(ElementType::UI8, isTransposed
                                      ? Shape{width, height, image.dim(2)}
                                      : image.shape());
  std::byte *to = result.mutableBytes();
  for (int64_t row = 0; row < result.dim(0); ++row)
    for (int64_t column = 0; column < result.dim(1); ++column) {
      int64_t y = isTransposed ? column : row;
      int64_t x = isTransposed ? row : column;
      y = flipsRows ? height - 1 - y : y;
      x = flipsColumns ? width - 1 - x : x;
      std::memcpy(to,
                  image.data() + static_cast<size_t>(y * width + x) * channels,
                  channels);
      to += channels;
    }
  return result;
}

namespace {

/// Numbers in a TIFF's byte order; 0 behind its end.
class TiffNumbers {
public:
  TiffNumbers(std::span<const std::byte> bytes, bool isBigEndian)
      : bytes(bytes), isBigEndian(isBigEndian) {}

  uint32_t at(uint64_t offset, size_t size) const {
    if (offset > bytes.size() || bytes.size() - offset < size)
      return 0;
    uint32_t value = 0;
    for (size_t i = 0; i < size; ++i) {
      const size_t from = isBigEndian ? i : size - 1 - i;
      value = value << 8 | std::to_integer<uint32_t>(bytes[offset + from]);
    }
    return value;
  }

private:
  std::span<const std::byte> bytes;
  bool isBigEndian;
};

} // namespace

unsigned exifOrientation(std::span<const std::byte> bytes) {
  constexpr uint32_t orientationTag = 0x0112, shortType = 3;
  constexpr uint64_t entrySize = 12;
  if (bytes.size() < 8 || (std::memcmp(bytes.data(), "II*\0", 4) != 0 &&
                           std::memcmp(bytes.data(), "MM\0*", 4) != 0))
    return 1;
  const TiffNumbers numbers(bytes, bytes[0] == std::byte('M'));
  const uint64_t directory = numbers.at(4, 4);
  const uint64_t entries = numbers.at(directory, 2);
  for (uint64_t i = 0; i < entries; ++i) {
    const uint64_t entry = directory + 2 + i * entrySize;
    if (numbers.at(entry, 2) != orientationTag)
      continue;
    const uint32_t value = numbers.at(entry + 8, 2);
    const bool isOne =
        numbers.at(entry + 2, 2) == shortType && numbers.at(entry + 4, 4) == 1;
    return isOne && value >= 1 && value <= 8 ? value : 1;
  }
  return 1;
}

} // namespace sinter::images
