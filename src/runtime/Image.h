//===- Image.h - images as tensors ----------------------------------------===//
//
// From PNG and JPEG files to the input of a network for images:
//
//     decode -> channels -> resize -> (value * scale - mean) / std -> layout
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_IMAGE_H
#define SINTER_RUNTIME_IMAGE_H

#include "runtime/Executor.h"
#include "runtime/Tensor.h"

#include <string>
#include <vector>

namespace sinter {

enum class ImageLayout : uint8_t {
  Nchw, ///< batch, channel, row, column
  Nhwc  ///< batch, row, column, channel
};

struct ImageOptions {
  ImageLayout layout = ImageLayout::Nchw;
  /// The factor from 0..255 to the range of mean and std.
  double scale = 1.0 / 255;
  /// Subtracted from the scaled channels, then divided out: one value for all
  /// channels, one for each, or none for 0 and 1.
  std::vector<double> mean, std;
};

/// The largest image that is decoded has 2^27 pixels, some 400 MB.
inline constexpr int64_t maxPixels = int64_t(1) << 27;

/// Whether \p bytes begin like a PNG or JPEG file.
bool isImage(std::span<const std::byte> bytes);

/// Decodes a PNG or JPEG file to ui8 of shape [height, width, channels], with 1
/// channel for grey images and 3 (red, green, blue) for others; transparency
/// is dropped. \p name is for messages.
Result<Tensor> decodeImage(std::span<const std::byte> bytes,
                           const std::string &name);

/// \p image, of shape [height, width, channels] as decodeImage returns it, as
/// the model's input \p spec: a floating-point type, or ui8 for the plain
/// pixels. The shape has rank 4, or 3 without the batch; one batch; 1 or 3
/// channels (grey is Rec. 601 luma; grey is repeated for colours); a dynamic
/// height or width is the image's. Resizing is bilinear; for smaller images its
/// filter is wider, as Pillow's, so that every pixel counts. Errors are Usage
/// and name \p spec.
Result<Tensor> imageToInput(const Tensor &image, const TensorSpec &spec,
                            const ImageOptions &options);

} // namespace sinter

#endif // SINTER_RUNTIME_IMAGE_H
