//===- Image.h - images as tensors ----------------------------------------===//
//
// From image files to the input of a network for images:
//
//     decode -> resize -> crop -> pad -> channels
//            -> (value * scale - mean) / std -> layout
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_IMAGE_H
#define SINTER_RUNTIME_IMAGE_H

#include "runtime/Executor.h"
#include "runtime/Tensor.h"

#include <optional>
#include <string>
#include <vector>

namespace sinter {

enum class ImageLayout : uint8_t {
  Nchw, ///< batch, channel, row, column
  Nhwc  ///< batch, row, column, channel
};

/// How an image becomes one of another aspect ratio.
enum class ImageFit : uint8_t {
  Stretch, ///< Both dimensions are scaled to the size.
  Pad,     ///< It is scaled to lie inside, centred; the rest is padding.
  Cover    ///< It is scaled to cover the size; the centre is kept.
};

enum class ImageChannels : uint8_t {
  Rgb, ///< red, green, blue
  Bgr, ///< blue, green, red
  Gray ///< Rec. 601 luma
};

enum class Interpolation : uint8_t { Nearest, Bilinear, Bicubic };

/// In pixels.
struct PictureSize {
  int64_t height = 0, width = 0;
  bool operator==(const PictureSize &) const = default;
};

struct ImageOptions {
  ImageLayout layout = ImageLayout::Nchw;
  /// The factor from 0..255 to the range of mean and std.
  double scale = 1.0 / 255;
  /// Subtracted from the scaled channels, then divided out: one value for all
  /// channels, one for each in the input's order, or none for 0 and 1.
  std::vector<double> mean, std;
  /// The size that the image gets; nothing: the input's, or, if that is
  /// dynamic or there is a crop, its own.
  std::optional<PictureSize> resize;
  ImageFit fit = ImageFit::Stretch;
  Interpolation interpolation = Interpolation::Bilinear;
  /// The size of the centre that is kept after that.
  std::optional<PictureSize> crop;
  /// Height and width are padded to multiples of it, below and on the right.
  int64_t padMultiple = 1;
  /// What padding is filled with, 0..255: one value for all channels, one for
  /// each in the input's order, or none for black.
  std::vector<double> padValue;
  /// Nothing: rgb, or gray for an input with one channel.
  std::optional<ImageChannels> channels;
};

/// The largest image that is decoded has 2^27 pixels, some 400 MB.
inline constexpr int64_t maxPixels = int64_t(1) << 27;

/// Whether \p bytes begin like a file of one of the kinds of decodeImage.
bool isImage(std::span<const std::byte> bytes);

/// "PNG, JPEG, WebP, BMP, GIF, PNM or TIFF", for messages.
extern const char *const imageKinds;

/// Decodes a PNG, JPEG, WebP, BMP, GIF (its first frame), PNM or TIFF (its
/// first page) file to ui8 of shape [height, width, channels], with 1 channel
/// for grey images and 3 (red, green, blue) for others; transparency is
/// dropped. A JPEG, PNG, WebP or TIFF file with an orientation is turned
/// upright. \p name is for messages.
Result<Tensor> decodeImage(std::span<const std::byte> bytes,
                           const std::string &name);

/// \p image, of shape [height, width, channels] as decodeImage returns it, as
/// the model's input \p spec: a floating-point type, or ui8 for the plain
/// pixels. The shape has rank 4, or 3 without the batch; one batch; 1 or 3
/// channels (a dynamic number is that of the options); grey is repeated for
/// colours.
///
/// Of a dynamic height or width, without a size in the options, it is the
/// image's; if the other one is static and the image is fit by padding or
/// covering, it follows from the image's aspect ratio. A resized or cropped
/// image that is larger than a static size is cropped to its centre.
///
/// Resizing has the filters of Pillow: for smaller images they are wider, so
/// that every pixel counts. It does not round to whole pixel values, so values
/// differ from those of 8-bit images of Pillow by about 1 of 255. Errors are
/// Usage and name \p spec.
Result<Tensor> imageToInput(const Tensor &image, const TensorSpec &spec,
                            const ImageOptions &options);

/// Where a centred window of \p size begins in \p whole, which may be smaller:
/// the half of the difference, rounded to even as torchvision does.
int64_t centredStart(int64_t whole, int64_t size);

} // namespace sinter

#endif // SINTER_RUNTIME_IMAGE_H
