//===- Pnm.cpp - portable bitmaps, graymaps and pixmaps -------------------===//
//
// "P1" to "P6": text and bytes, of one bit, grey or colours; samples of up to
// 16 bits are scaled to 8.
//
//===----------------------------------------------------------------------===//

#include "runtime/image/Decoders.h"

#include <algorithm>
#include <optional>

namespace sinter::images {

namespace {

class PnmReader {
public:
  explicit PnmReader(std::span<const std::byte> bytes)
      : text(reinterpret_cast<const char *>(bytes.data()), bytes.size()) {}

  /// The next decimal number, behind white space and comments.
  std::optional<uint64_t> number() {
    skip();
    uint64_t value = 0;
    size_t digits = 0;
    while (!text.empty() && text.front() >= '0' && text.front() <= '9' &&
           ++digits < 10) {
      value = value * 10 + static_cast<uint64_t>(text.front() - '0');
      text.remove_prefix(1);
    }
    return digits ? std::optional(value) : std::nullopt;
  }

  /// The next bit, written as a digit.
  std::optional<uint64_t> bit() {
    skip();
    if (text.empty() || (text.front() != '0' && text.front() != '1'))
      return std::nullopt;
    const bool isSet = text.front() == '1';
    text.remove_prefix(1);
    return isSet;
  }

  void remove(size_t count) {
    text.remove_prefix(std::min(count, text.size()));
  }

  std::string_view text;

private:
  void skip() {
    while (!text.empty()) {
      if (text.front() == '#')
        text.remove_prefix(std::min(text.find('\n'), text.size()));
      else if (std::string_view(" \t\r\n\v\f").find(text.front()) ==
               std::string_view::npos)
        return;
      else
        text.remove_prefix(1);
    }
  }
};

uint8_t scaled(uint64_t sample, uint64_t largest) {
  return static_cast<uint8_t>((std::min(sample, largest) * 255 + largest / 2) /
                              largest);
}

/// The samples as text.
bool readText(PnmReader &reader, bool isBitmap, uint64_t largest,
              std::span<uint8_t> to) {
  for (uint8_t &sample : to) {
    const std::optional<uint64_t> value =
        isBitmap ? reader.bit() : reader.number();
    if (!value)
      return false;
    // A set bit is black.
    sample = isBitmap ? (*value ? 0 : 255) : scaled(*value, largest);
  }
  return true;
}

/// The samples as bytes; bits of a row fill whole bytes, the first the highest.
bool readBytes(PnmReader &reader, bool isBitmap, uint64_t largest,
               int64_t width, std::span<uint8_t> to) {
  const std::string_view data = reader.text;
  auto byte = [&](size_t i) { return static_cast<uint8_t>(data[i]); };
  if (isBitmap) {
    const auto row = static_cast<size_t>(width);
    const size_t rowBytes = (row + 7) / 8;
    if (data.size() / rowBytes < to.size() / row)
      return false;
    for (size_t i = 0; i < to.size(); ++i)
      to[i] = byte(i / row * rowBytes + i % row / 8) >> (7 - i % row % 8) & 1
                  ? 0
                  : 255;
    return true;
  }
  const size_t each = largest > 255 ? 2 : 1;
  if (data.size() / each < to.size())
    return false;
  for (size_t i = 0; i < to.size(); ++i)
    to[i] = scaled(each == 1 ? byte(i) : byte(2 * i) << 8 | byte(2 * i + 1),
                   largest);
  return true;
}

} // namespace

bool isPnm(std::span<const std::byte> bytes) {
  // Many a text begins with "P1".
  const auto at = [&](size_t i) { return std::to_integer<char>(bytes[i]); };
  return bytes.size() > 2 && at(0) == 'P' && at(1) >= '1' && at(1) <= '6' &&
         std::string_view("# \t\r\n\v\f").find(at(2)) != std::string_view::npos;
}

Result<Tensor> decodePnm(std::span<const std::byte> bytes,
                         const std::string &name) {
  PnmReader reader(bytes);
  const int kind = reader.text[1] - '0';
  reader.remove(2);
  const bool isBitmap = kind == 1 || kind == 4;
  const std::optional<uint64_t> width = reader.number(),
                                height = reader.number(),
                                largest = isBitmap ? 1 : reader.number();
  if (!width || !height || !largest || *largest == 0 || *largest > 65535)
    return badImage(name, "its header has no sizes");
  if (Result<void> fits = checkImageSize(name, *width, *height); !fits)
    return fits.takeError();
  // One white space ends the header.
  if (kind > 3)
    reader.remove(1);
  const bool isColoured = kind == 3 || kind == 6;
  // A few bytes of text must not allocate an image.
  const uint64_t samples = *width * *height * (isColoured ? 3 : 1);
  if ((isBitmap && kind == 4 ? samples / 8 : samples) > reader.text.size())
    return badImage(name, "it ends before its last pixel");
  Tensor image(ElementType::UI8,
               {static_cast<int64_t>(*height), static_cast<int64_t>(*width),
                isColoured ? 3 : 1});
  const std::span<uint8_t> pixels = image.mutableValues<uint8_t>();
  const bool isWhole =
      kind < 4 ? readText(reader, isBitmap, *largest, pixels)
               : readBytes(reader, isBitmap, *largest, image.dim(1), pixels);
  if (!isWhole)
    return badImage(name, "it ends before its last pixel");
  return image;
}

} // namespace sinter::images
