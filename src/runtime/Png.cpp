//===- Png.cpp - class maps and images in PNG files -----------------------===//

#include "runtime/Png.h"

#include "runtime/Image.h"
#include "runtime/OutOfMemory.h"

#include <vector>

#include <png.h>

namespace sinter {

namespace {

constexpr int paletteSize = 256;

/// What libpng's simplified interface works on; released in any case.
struct PngImage {
  PngImage() { image.version = PNG_IMAGE_VERSION; }
  PngImage(const PngImage &) = delete;
  ~PngImage() { png_image_free(&image); }

  png_image image = {};
};

Result<Tensor> readClassMap(std::span<const std::byte> bytes,
                            const std::string &name) {
  const auto damaged = [&](const char *why) {
    return systemError("'" + name + "': not a valid image: " + why);
  };
  PngImage png;
  if (!png_image_begin_read_from_memory(&png.image, bytes.data(), bytes.size()))
    return damaged(png.image.message);
  if (uint64_t(png.image.width) * png.image.height > uint64_t(maxPixels))
    return systemError(
        "'" + name + "': an image of " + std::to_string(png.image.width) + "x" +
        std::to_string(png.image.height) + " pixels is too large");
  const bool hasPalette = png.image.format & PNG_FORMAT_FLAG_COLORMAP;
  const bool isGrey =
      !(png.image.format & (PNG_FORMAT_FLAG_COLOR | PNG_FORMAT_FLAG_LINEAR));
  if (!hasPalette && !isGrey)
    return usageError("'" + name +
                      "': the classes of pixels are the indices of a PNG with "
                      "a palette, or the values of a grey one of 8 bits");
  Tensor map(ElementType::UI8, {static_cast<int64_t>(png.image.height),
                                static_cast<int64_t>(png.image.width)});
  if (hasPalette) {
    // The entries of libpng's own colour map are those of the file's, in order.
    png.image.format = PNG_FORMAT_RGBA_COLORMAP;
    std::vector<uint8_t> colours(PNG_IMAGE_COLORMAP_SIZE(png.image));
    if (!png_image_finish_read(&png.image, nullptr,
                               map.mutableValues<uint8_t>().data(), 0,
                               colours.data()))
      return damaged(png.image.message);
    return map;
  }
  // With its transparency, which is dropped, so that nothing is blended.
  png.image.format = PNG_FORMAT_GA;
  std::vector<uint8_t> pixels(PNG_IMAGE_SIZE(png.image));
  if (!png_image_finish_read(&png.image, nullptr, pixels.data(), 0, nullptr))
    return damaged(png.image.message);
  std::span<uint8_t> classes = map.mutableValues<uint8_t>();
  for (size_t i = 0; i < classes.size(); ++i)
    classes[i] = pixels[2 * i];
  return map;
}

/// The bytes that libpng makes of \p pixels; \p colours: of a palette, or null.
Result<std::string> written(PngImage &png, const void *pixels,
                            const void *colours) {
  png_alloc_size_t size = 0;
  if (!png_image_write_to_memory(&png.image, nullptr, &size, 0, pixels, 0,
                                 colours))
    return systemError(std::string("a PNG image cannot be written: ") +
                       png.image.message);
  std::string file(size, '\0');
  if (!png_image_write_to_memory(&png.image, file.data(), &size, 0, pixels, 0,
                                 colours))
    return systemError(std::string("a PNG image cannot be written: ") +
                       png.image.message);
  file.resize(size);
  return file;
}

/// The Usage error unless \p pixels is ui8 and has pixels, and not too many.
Result<void> checkPixels(const Tensor &pixels, int64_t rank) {
  if (pixels.type() != ElementType::UI8 || pixels.rank() != rank ||
      pixels.dim(0) < 1 || pixels.dim(1) < 1 ||
      pixels.dim(0) > maxPixels / pixels.dim(1))
    return usageError("a tensor of " + toString(pixels.type(), pixels.shape()) +
                      " is no image");
  return {};
}

} // namespace

Colour classColour(uint8_t label) {
  Colour colour = {};
  for (unsigned bit = 0; bit < 8; ++bit)
    for (unsigned channel = 0; channel < 3; ++channel)
      if (3 * bit + channel < 8 && (label >> (3 * bit + channel)) & 1)
        colour[channel] |= static_cast<uint8_t>(1U << (7 - bit));
  return colour;
}

Result<Tensor> decodeClassMap(std::span<const std::byte> bytes,
                              const std::string &name) {
  return catchingOutOfMemory("'" + name + "'",
                             [&] { return readClassMap(bytes, name); });
}

Result<std::string> encodeClassMap(const Tensor &classes) {
  if (Result<void> good = checkPixels(classes, 2); !good)
    return good.takeError();
  PngImage png;
  png.image.height = static_cast<png_uint_32>(classes.dim(0));
  png.image.width = static_cast<png_uint_32>(classes.dim(1));
  png.image.format = PNG_FORMAT_RGB_COLORMAP;
  png.image.colormap_entries = paletteSize;
  std::vector<uint8_t> colours;
  for (int label = 0; label < paletteSize; ++label)
    for (uint8_t channel : classColour(static_cast<uint8_t>(label)))
      colours.push_back(channel);
  return written(png, classes.data(), colours.data());
}

Result<std::string> encodePng(const Tensor &image) {
  if (Result<void> good = checkPixels(image, 3); !good)
    return good.takeError();
  if (image.dim(2) != 1 && image.dim(2) != 3)
    return usageError("an image has 1 or 3 channels, not " +
                      std::to_string(image.dim(2)));
  PngImage png;
  png.image.height = static_cast<png_uint_32>(image.dim(0));
  png.image.width = static_cast<png_uint_32>(image.dim(1));
  png.image.format = image.dim(2) == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  return written(png, image.data(), nullptr);
}

} // namespace sinter
