//===- Png.cpp - PNG files ------------------------------------------------===//

#include "runtime/image/Decoders.h"

#include <cstring>
#include <png.h>

namespace sinter::images {

/// The data of the chunk eXIf of a PNG file, before or behind its pixels; none
/// if there is no such chunk.
static std::span<const std::byte> pngExif(std::span<const std::byte> bytes) {
  constexpr size_t signature = 8, header = 8, checksum = 4;
  bytes = bytes.subspan(std::min(signature, bytes.size()));
  while (bytes.size() >= header + checksum) {
    uint64_t size = 0;
    for (size_t i = 0; i < 4; ++i)
      size = size << 8 | std::to_integer<uint64_t>(bytes[i]);
    if (size > bytes.size() - header - checksum)
      return {};
    if (std::memcmp(bytes.data() + 4, "eXIf", 4) == 0)
      return bytes.subspan(header, size);
    bytes = bytes.subspan(header + size + checksum);
  }
  return {};
}

/// libpng's simplified interface: its long jumps stay inside, it converts every
/// kind of PNG to 8 bits per channel, and returns errors.
Result<Tensor> decodePng(std::span<const std::byte> bytes,
                         const std::string &name) {
  png_image png = {};
  png.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()))
    return badImage(name, png.message);
  struct Release {
    png_image *png;
    ~Release() { png_image_free(png); }
  } release{&png};
  if (Result<void> good = checkImageSize(name, png.width, png.height); !good)
    return good.takeError();
  // Otherwise 16-bit channels would be taken for linear, and brightened.
  png.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  // With the alpha channel, so that libpng does not blend with a background.
  const bool isColour = png.format & PNG_FORMAT_FLAG_COLOR;
  png.format = isColour ? PNG_FORMAT_RGBA : PNG_FORMAT_GA;
  std::vector<uint8_t> pixels(PNG_IMAGE_SIZE(png));
  if (!png_image_finish_read(&png, nullptr, pixels.data(), 0, nullptr))
    return badImage(name, png.message);
  return upright(keptChannels(pixels, png.height, png.width, isColour ? 4 : 2,
                              isColour ? 3 : 1),
                 exifOrientation(pngExif(bytes)));
}

} // namespace sinter::images
