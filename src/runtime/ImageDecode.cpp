//===- ImageDecode.cpp - image files of all kinds -------------------------===//

#include "runtime/Image.h"
#include "runtime/OutOfMemory.h"
#include "runtime/image/Decoders.h"

namespace sinter {

const char *const imageKinds = "PNG, JPEG, WebP, BMP, GIF, PNM or TIFF";

namespace images {

Error badImage(const std::string &name, const std::string &what) {
  return systemError("'" + name + "': not a valid image: " + what);
}

Result<void> checkImageSize(const std::string &name, uint64_t width,
                            uint64_t height) {
  if (width == 0 || height == 0)
    return badImage(name, "an image without pixels");
  if (width > uint64_t(maxPixels) / height)
    return systemError("'" + name + "': an image of " + std::to_string(width) +
                       "x" + std::to_string(height) + " pixels is too large");
  return {};
}

Tensor keptChannels(std::span<const uint8_t> pixels, int64_t height,
                    int64_t width, size_t channels, size_t keep) {
  Tensor image(ElementType::UI8, {height, width, static_cast<int64_t>(keep)});
  std::span<uint8_t> kept = image.mutableValues<uint8_t>();
  for (size_t pixel = 0; pixel < kept.size() / keep; ++pixel)
    for (size_t channel = 0; channel < keep; ++channel)
      kept[pixel * keep + channel] = pixels[pixel * channels + channel];
  return image;
}

} // namespace images

namespace {

/// By what a kind of file is known: `begin` at its start, `middle` at `offset`.
struct ImageKind {
  std::string_view begin;
  size_t offset;
  std::string_view middle;
  Result<Tensor> (*decode)(std::span<const std::byte> bytes,
                           const std::string &name);
  /// What else holds of its bytes, if that is not null.
  bool (*holds)(std::span<const std::byte> bytes) = nullptr;
};

using namespace std::string_view_literals;

constexpr ImageKind allKinds[] = {
    {"\x89PNG\r\n\x1a\n"sv, 0, ""sv, images::decodePng},
    {"\xff\xd8\xff"sv, 0, ""sv, images::decodeJpeg},
    {"RIFF"sv, 8, "WEBP"sv, images::decodeWebP},
    {"GIF87a"sv, 0, ""sv, images::decodeGif},
    {"GIF89a"sv, 0, ""sv, images::decodeGif},
    {"P"sv, 0, ""sv, images::decodePnm, images::isPnm},
    {"II*\0"sv, 0, ""sv, images::decodeTiff},
    {"MM\0*"sv, 0, ""sv, images::decodeTiff},
    // "BM", and four bytes that are 0 in all files.
    {"BM"sv, 6, "\0\0\0\0"sv, images::decodeBmp}};

bool hasAt(std::span<const std::byte> bytes, size_t offset,
           std::string_view text) {
  return bytes.size() >= offset + text.size() &&
         std::memcmp(bytes.data() + offset, text.data(), text.size()) == 0;
}

const ImageKind *kindOf(std::span<const std::byte> bytes) {
  for (const ImageKind &kind : allKinds)
    if (hasAt(bytes, 0, kind.begin) && hasAt(bytes, kind.offset, kind.middle) &&
        (!kind.holds || kind.holds(bytes)))
      return &kind;
  return nullptr;
}

} // namespace

bool isImage(std::span<const std::byte> bytes) {
  return kindOf(bytes) != nullptr;
}

Result<Tensor> decodeImage(std::span<const std::byte> bytes,
                           const std::string &name) {
  return catchingOutOfMemory("'" + name + "'", [&]() -> Result<Tensor> {
    if (const ImageKind *kind = kindOf(bytes))
      return kind->decode(bytes, name);
    return systemError("'" + name + "': no " + std::string(imageKinds) +
                       " file");
  });
}

} // namespace sinter
