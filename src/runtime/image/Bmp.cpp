//===- Bmp.cpp - BMP files ------------------------------------------------===//
//
// Windows bitmaps with a BITMAPCOREHEADER, a BITMAPINFOHEADER or a longer one:
// 1, 4 or 8 bits a pixel that index a palette, 16, 24 or 32 bits with a field
// for each colour.
//
//===----------------------------------------------------------------------===//

#include "runtime/ByteStream.h"
#include "runtime/image/Decoders.h"

#include <array>
#include <bit>

namespace sinter::images {

namespace {

/// A colour's bits in a pixel.
struct BmpField {
  uint32_t mask = 0;

  /// Scaled to 0..255.
  uint8_t of(uint32_t pixel) const {
    if (mask == 0)
      return 0;
    const uint64_t most = mask >> std::countr_zero(mask);
    const uint64_t value = (pixel & mask) >> std::countr_zero(mask);
    return static_cast<uint8_t>((value * 255 + most / 2) / most);
  }
  /// Whether its bits are neighbours.
  bool isContiguous() const {
    const uint32_t shifted = mask == 0 ? 0 : mask >> std::countr_zero(mask);
    return (shifted & (shifted + 1)) == 0;
  }
};

using BmpColour = std::array<uint8_t, 3>;

class BmpDecoder {
public:
  BmpDecoder(std::span<const std::byte> bytes, const std::string &name)
      : bytes(bytes), name(name) {}

  Result<Tensor> decode() {
    if (Result<void> read = readHeader(); !read)
      return read.takeError();
    if (bits <= 8)
      if (Result<void> read = readPalette(); !read)
        return read.takeError();
    return readPixels();
  }

private:
  Result<void> readHeader();
  Result<void> readFields(ByteReader &in, uint32_t compression);
  Result<void> readPalette();
  Result<Tensor> readPixels() const;
  BmpColour colourAt(const std::byte *line, int64_t column) const;

  std::span<const std::byte> bytes;
  const std::string &name;
  uint32_t dataOffset = 0, headerSize = 0, colourCount = 0;
  int64_t width = 0, height = 0;
  bool isTopDown = false;
  uint16_t bits = 0;
  BmpField red, green, blue;
  std::vector<BmpColour> palette;
};

constexpr size_t bmpFileHeaderSize = 14;
constexpr uint32_t bmpCoreSize = 12, bmpInfoSize = 40;

} // namespace

Result<void> BmpDecoder::readHeader() {
  ByteReader in(bytes);
  (void)in.raw(10); // "BM", the file's size, and four bytes for programs.
  dataOffset = in.number<uint32_t>();
  headerSize = in.number<uint32_t>();
  uint32_t compression = 0;
  uint16_t planes = 0;
  if (headerSize == bmpCoreSize) {
    width = in.number<uint16_t>();
    height = in.number<uint16_t>();
    planes = in.number<uint16_t>();
    bits = in.number<uint16_t>();
  } else if (headerSize >= bmpInfoSize && headerSize <= 1024) {
    width = in.number<int32_t>();
    height = in.number<int32_t>();
    planes = in.number<uint16_t>();
    bits = in.number<uint16_t>();
    compression = in.number<uint32_t>();
    (void)in.raw(12); // The bytes of the image, and its resolution.
    colourCount = in.number<uint32_t>();
    (void)in.raw(4); // How many colours are important.
  } else {
    in.fail();
  }
  if (in.failed() || planes != 1)
    return badImage(name, "its header is damaged or ends too early");
  isTopDown = height < 0;
  height = isTopDown ? -height : height;
  if (width < 1 || height < 1)
    return badImage(name, "an image without pixels");
  if (Result<void> good = checkImageSize(name, static_cast<uint64_t>(width),
                                         static_cast<uint64_t>(height));
      !good)
    return good;
  return readFields(in, compression);
}

/// Which bits of a pixel are which colour. \p in is behind the first 40 bytes
/// of the header: the masks are there, in longer headers, too.
Result<void> BmpDecoder::readFields(ByteReader &in, uint32_t compression) {
  constexpr uint32_t none = 0, runs8 = 1, runs4 = 2, fields = 3,
                     alphaFields = 6;
  if (compression == runs8 || compression == runs4)
    return systemError("'" + name +
                       "': a run-length encoded BMP is not supported; save it "
                       "without compression, or as PNG");
  const bool hasFields = compression == fields || compression == alphaFields;
  const bool isKnown = hasFields ? bits == 16 || bits == 32
                                 : compression == none &&
                                       (bits == 1 || bits == 4 || bits == 8 ||
                                        bits == 16 || bits == 24 || bits == 32);
  if (!isKnown)
    return badImage(name, std::to_string(bits) +
                              " bits a pixel with compression " +
                              std::to_string(compression));
  if (bits == 16)
    red.mask = 0x7c00, green.mask = 0x03e0, blue.mask = 0x001f;
  else
    red.mask = 0xff0000, green.mask = 0xff00, blue.mask = 0xff;
  if (!hasFields)
    return {};
  red.mask = in.number<uint32_t>();
  green.mask = in.number<uint32_t>();
  blue.mask = in.number<uint32_t>();
  if (in.failed() || !red.isContiguous() || !green.isContiguous() ||
      !blue.isContiguous())
    return badImage(name, "its masks of colours make no sense");
  return {};
}

Result<void> BmpDecoder::readPalette() {
  const size_t entrySize = headerSize == bmpCoreSize ? 3 : 4;
  const uint32_t most = 1U << bits;
  const uint32_t count =
      colourCount == 0 || colourCount > most ? most : colourCount;
  const uint64_t begin = bmpFileHeaderSize + uint64_t(headerSize);
  if (begin > bytes.size() || (bytes.size() - begin) / entrySize < count)
    return badImage(name, "its palette ends too early");
  const std::byte *entry = bytes.data() + begin;
  for (uint32_t i = 0; i < count; ++i, entry += entrySize)
    palette.push_back({std::to_integer<uint8_t>(entry[2]),
                       std::to_integer<uint8_t>(entry[1]),
                       std::to_integer<uint8_t>(entry[0])});
  return {};
}

BmpColour BmpDecoder::colourAt(const std::byte *line, int64_t column) const {
  if (bits <= 8) {
    const int64_t bit = column * bits;
    const auto byte = std::to_integer<unsigned>(line[bit / 8]);
    const unsigned shift = 8U - bits - static_cast<unsigned>(bit % 8);
    const unsigned index = (byte >> shift) & ((1U << bits) - 1);
    // Indices behind the palette are black.
    return index < palette.size() ? palette[index] : BmpColour{};
  }
  uint32_t pixel = 0;
  const size_t size = bits / 8;
  std::memcpy(&pixel, line + static_cast<size_t>(column) * size, size);
  return {red.of(pixel), green.of(pixel), blue.of(pixel)};
}

Result<Tensor> BmpDecoder::readPixels() const {
  // Lines are multiples of four bytes.
  const uint64_t lineSize = (static_cast<uint64_t>(width) * bits + 31) / 32 * 4;
  if (dataOffset > bytes.size() ||
      (bytes.size() - dataOffset) / lineSize < static_cast<uint64_t>(height))
    return badImage(name, "its data end too early");
  Tensor image(ElementType::UI8, {height, width, 3});
  uint8_t *to = image.mutableValues<uint8_t>().data();
  for (int64_t row = 0; row < height; ++row) {
    const auto line = static_cast<uint64_t>(isTopDown ? row : height - 1 - row);
    const std::byte *from = bytes.data() + dataOffset + line * lineSize;
    for (int64_t column = 0; column < width; ++column)
      for (uint8_t value : colourAt(from, column))
        *to++ = value;
  }
  return image;
}

Result<Tensor> decodeBmp(std::span<const std::byte> bytes,
                         const std::string &name) {
  return BmpDecoder(bytes, name).decode();
}

} // namespace sinter::images
