//===- ImagePixels.h - image files as pixels of a format ------------------===//

#ifndef SINTER_RUNTIME_IMAGEPIXELS_H
#define SINTER_RUNTIME_IMAGEPIXELS_H

#include "runtime/Image.h"

namespace sinter {

/// ONNX's names of pixel formats: RGB, BGR, Grayscale; nothing for others.
std::optional<ImageChannels> pixelFormatOf(std::string_view name);

/// The pixels of the image file in \p bytes: ui8 [height, width, channels].
/// Grey is the luma of Rec. 601, rounded as Pillow does. Errors as of
/// decodeImage.
Result<Tensor> decodePixels(std::span<const std::byte> bytes,
                            ImageChannels format);

} // namespace sinter

#endif // SINTER_RUNTIME_IMAGEPIXELS_H
