//===- Decoders.h - the kinds of image files ------------------------------===//
//
// A function per kind, which decodes bytes that begin like a file of its kind
// to ui8 [height, width, 1 or 3] (see runtime/Image.h). Errors begin with \p
// name. Lack of memory is thrown (OutOfMemory.h).
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_IMAGE_DECODERS_H
#define SINTER_RUNTIME_IMAGE_DECODERS_H

#include "runtime/Tensor.h"

#include <span>
#include <string>
#include <string_view>

namespace sinter::images {

/// PNG, JPEG and WebP are turned upright by their Exif orientation.
Result<Tensor> decodePng(std::span<const std::byte> bytes,
                         const std::string &name);
Result<Tensor> decodeJpeg(std::span<const std::byte> bytes,
                          const std::string &name);
/// Not an animated one.
Result<Tensor> decodeWebP(std::span<const std::byte> bytes,
                          const std::string &name);
/// Of 1, 4, 8, 16, 24 or 32 bits a pixel, not run-length encoded.
Result<Tensor> decodeBmp(std::span<const std::byte> bytes,
                         const std::string &name);
/// The first frame, on the background colour.
Result<Tensor> decodeGif(std::span<const std::byte> bytes,
                         const std::string &name);
/// Whether \p bytes begin as a PNM file does: "P1" to "P6", and a white space.
bool isPnm(std::span<const std::byte> bytes);
Result<Tensor> decodePnm(std::span<const std::byte> bytes,
                         const std::string &name);
/// The first page, turned upright. Loads libtiff, which needs libraries that
/// nothing else does.
Result<Tensor> decodeTiff(std::span<const std::byte> bytes,
                          const std::string &name);

//===--- What they share --------------------------------------------------===//

Error badImage(const std::string &name, const std::string &what);

/// Checks that an image has pixels, and at most maxPixels.
Result<void> checkImageSize(const std::string &name, uint64_t width,
                            uint64_t height);

/// The first \p keep of every \p channels channels.
Tensor keptChannels(std::span<const uint8_t> pixels, int64_t height,
                    int64_t width, size_t channels, size_t keep);

/// \p image, [height, width, channels], as orientation 1..8 of Exif and TIFF
/// shows it: 2 mirrored, 3 turned by 180 degrees, 4 upside down, 5 transposed,
/// 6 turned clockwise, 7 transposed along the other diagonal, 8 turned
/// anticlockwise.
Tensor upright(Tensor image, unsigned orientation);

/// The orientation in Exif data, which begin with a TIFF header; 1 if they have
/// none or make no sense.
unsigned exifOrientation(std::span<const std::byte> bytes);

} // namespace sinter::images

#endif // SINTER_RUNTIME_IMAGE_DECODERS_H
