//===- ImageFuzzer.cpp - any bytes as an image or a WAV file --------------===//
//
// Decodes the bytes, and prepares what comes out as a model's input. Nothing
// may crash, or read what is not there.
//
//===----------------------------------------------------------------------===//

#include "runtime/Image.h"
#include "runtime/Wav.h"

#include <cstdlib>

using namespace sinter;

/// An image that a few bytes claim to be large costs time only.
static constexpr int64_t mostPixels = 1 << 16;

static void prepare(const Tensor &image) {
  if (image.rank() != 3 || image.size() == 0)
    std::abort();
  if (image.dim(0) * image.dim(1) > mostPixels)
    return;
  ImageOptions options;
  options.resize = PictureSize{9, 7};
  options.fit = image.dim(0) % 2 == 0 ? ImageFit::Pad : ImageFit::Cover;
  if (!imageToInput(image, {"x", ElementType::F32, {1, 3, 5, 7}}, options))
    std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  if (isImage(bytes))
    if (Result<Tensor> image = decodeImage(bytes, "x"))
      prepare(*image);
  if (!isWav(bytes))
    return 0;
  Result<Audio> audio = decodeWav(bytes, "x");
  if (!audio || audio->length() > mostPixels)
    return 0;
  (void)audioToInput(std::move(*audio), {"x", ElementType::F32, {1, -1}},
                     16000);
  return 0;
}
