#include "runtime/ImagePixels.h"

namespace sinter {

std::optional<ImageChannels> pixelFormatOf(std::string_view name) {
  if (name == "RGB")
    return ImageChannels::Rgb;
  if (name == "BGR")
    return ImageChannels::Bgr;
  if (name == "Grayscale")
    return ImageChannels::Gray;
  return std::nullopt;
}

/// The luma of a pixel in 16 bits of fraction, rounded.
static uint8_t lumaOf(const uint8_t *rgb) {
  return static_cast<uint8_t>(
      (rgb[0] * 19595U + rgb[1] * 38470U + rgb[2] * 7471U + 0x8000U) >> 16);
}

Result<Tensor> decodePixels(std::span<const std::byte> bytes,
                            ImageChannels format) {
  Result<Tensor> decoded = decodeImage(bytes, "the encoded stream");
  if (!decoded)
    return decoded;
  const int64_t has = decoded->dim(2);
  const int64_t wanted = format == ImageChannels::Gray ? 1 : 3;
  if (has == wanted && format != ImageChannels::Bgr)
    return decoded;
  Result<Tensor> pixels = Tensor::allocate(
      ElementType::UI8, {decoded->dim(0), decoded->dim(1), wanted});
  if (!pixels)
    return pixels;
  const uint8_t *from = decoded->values<uint8_t>().data();
  for (uint8_t *to = pixels->mutableValues<uint8_t>().data(),
               *end = to + pixels->size();
       to != end; to += wanted, from += has) {
    if (wanted == 1)
      *to = lumaOf(from);
    else
      for (int64_t i = 0; i < wanted; ++i)
        to[i] = from[has == 1 ? 0 : 2 - i];
    if (wanted == 3 && has == 3 && format == ImageChannels::Rgb)
      std::swap(to[0], to[2]);
  }
  return pixels;
}

} // namespace sinter
