//===- WebP.cpp - WebP files ----------------------------------------------===//

#include "runtime/Riff.h"
#include "runtime/image/Decoders.h"

#include <cstring>
#include <webp/decode.h>

namespace sinter::images {

/// The Exif data of a WebP file; none if it has no such chunk.
static std::span<const std::byte> webpExif(std::span<const std::byte> bytes) {
  const auto data = riffChunk("EXIF", bytes);
  if (!data)
    return {};
  // Some programs write it as in JPEG files.
  constexpr std::string_view magic("Exif\0\0", 6);
  const bool hasMagic =
      data->size() >= magic.size() &&
      std::memcmp(data->data(), magic.data(), magic.size()) == 0;
  return data->subspan(hasMagic ? magic.size() : 0);
}

Result<Tensor> decodeWebP(std::span<const std::byte> bytes,
                          const std::string &name) {
  const auto *data = reinterpret_cast<const uint8_t *>(bytes.data());
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(data, bytes.size(), &features) != VP8_STATUS_OK)
    return badImage(name, "its header is damaged or ends too early");
  if (features.has_animation)
    return systemError("'" + name +
                       "': an animated WebP is not supported; save one frame");
  if (Result<void> good =
          checkImageSize(name, static_cast<uint64_t>(features.width),
                         static_cast<uint64_t>(features.height));
      !good)
    return good.takeError();
  Tensor image(ElementType::UI8, {features.height, features.width, 3});
  // Without the alpha channel.
  if (!WebPDecodeRGBInto(data, bytes.size(),
                         image.mutableValues<uint8_t>().data(), image.bytes(),
                         features.width * 3))
    return badImage(name, "its data are damaged or end too early");
  return upright(std::move(image), exifOrientation(webpExif(bytes)));
}

} // namespace sinter::images
