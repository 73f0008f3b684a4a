//===- ImageDecode.cpp - PNG and JPEG files -------------------------------===//

#include "runtime/Image.h"
#include "runtime/OutOfMemory.h"

#include <algorithm>
#include <csetjmp>
#include <cstdio>

#include <jpeglib.h>
#include <png.h>

namespace sinter {

namespace {

bool startsWith(std::span<const std::byte> bytes, std::string_view magic) {
  return bytes.size() >= magic.size() &&
         std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

bool isPng(std::span<const std::byte> bytes) {
  return startsWith(bytes, "\x89PNG\r\n\x1a\n");
}

bool isJpeg(std::span<const std::byte> bytes) {
  return startsWith(bytes, "\xff\xd8\xff");
}

Error badImage(const std::string &name, const std::string &what) {
  return systemError("'" + name + "': not a valid image: " + what);
}

Error tooLarge(const std::string &name, uint64_t width, uint64_t height) {
  return systemError("'" + name + "': an image of " + std::to_string(width) +
                     "x" + std::to_string(height) + " pixels is too large");
}

/// Keeps the first \p keep of every \p channels channels.
Tensor dropChannels(const std::vector<uint8_t> &pixels, int64_t height,
                    int64_t width, size_t channels, size_t keep) {
  Tensor image(ElementType::UI8, {height, width, static_cast<int64_t>(keep)});
  std::span<uint8_t> kept = image.mutableValues<uint8_t>();
  for (size_t pixel = 0; pixel < kept.size() / keep; ++pixel)
    for (size_t channel = 0; channel < keep; ++channel)
      kept[pixel * keep + channel] = pixels[pixel * channels + channel];
  return image;
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
  if (uint64_t(png.width) * png.height > uint64_t(maxPixels))
    return tooLarge(name, png.width, png.height);
  // Otherwise 16-bit channels would be taken for linear, and brightened.
  png.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  // With the alpha channel, so that libpng does not blend with a background.
  const bool isColour = png.format & PNG_FORMAT_FLAG_COLOR;
  png.format = isColour ? PNG_FORMAT_RGBA : PNG_FORMAT_GA;
  std::vector<uint8_t> pixels(PNG_IMAGE_SIZE(png));
  if (!png_image_finish_read(&png, nullptr, pixels.data(), 0, nullptr))
    return badImage(name, png.message);
  return dropChannels(pixels, png.height, png.width, isColour ? 4 : 2,
                      isColour ? 3 : 1);
}

/// libjpeg reports an error by a call that must not return. It jumps back to
/// decodeJpeg, over C frames only.
struct JpegErrors {
  jpeg_error_mgr base;
  std::jmp_buf back;
  char message[JMSG_LENGTH_MAX];
};

[[noreturn]] void jpegError(j_common_ptr info) {
  auto *errors = reinterpret_cast<JpegErrors *>(info->err);
  info->err->format_message(info, errors->message);
  std::longjmp(errors->back, 1);
}

/// A progressive file may ask for thousands of passes over a large image.
void jpegProgress(j_common_ptr info) {
  constexpr int maxScans = 500;
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number > maxScans) {
    auto *errors = reinterpret_cast<JpegErrors *>(info->err);
    std::snprintf(errors->message, sizeof(errors->message),
                  "more than %d scans", maxScans);
    std::longjmp(errors->back, 1);
  }
}

/// The state of decoding a JPEG file. Only plain data and C calls between
/// setjmp and longjmp: no destructor is ever skipped.
class JpegDecoder {
public:
  JpegDecoder() {
    info.err = jpeg_std_error(&errors.base);
    errors.base.error_exit = jpegError;
    errors.base.output_message = [](j_common_ptr) {};
    progress.progress_monitor = jpegProgress;
  }
  ~JpegDecoder() { jpeg_destroy_decompress(&info); }

  /// False on an error; message() has it.
  bool begin(const unsigned char *bytes, size_t size) {
    if (setjmp(errors.back))
      return false;
    jpeg_create_decompress(&info);
    info.progress = &progress;
    jpeg_mem_src(&info, bytes, size);
    jpeg_read_header(&info, TRUE);
    info.out_color_space =
        info.jpeg_color_space == JCS_GRAYSCALE ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_calc_output_dimensions(&info);
    return true;
  }
  bool read(uint8_t *pixels) {
    if (setjmp(errors.back))
      return false;
    jpeg_start_decompress(&info);
    while (info.output_scanline < info.output_height) {
      JSAMPROW row = pixels + size_t(info.output_scanline) * info.output_width *
                                  info.output_components;
      jpeg_read_scanlines(&info, &row, 1);
    }
    return true;
  }

  /// Damaged data only cause a warning, and become grey.
  bool isDamaged() const { return errors.base.num_warnings != 0; }
  const char *message() const { return errors.message; }
  int64_t width() const { return info.output_width; }
  int64_t height() const { return info.output_height; }
  int64_t channels() const { return info.output_components; }

private:
  jpeg_decompress_struct info = {};
  jpeg_progress_mgr progress = {};
  JpegErrors errors = {};
};

Result<Tensor> decodeJpeg(std::span<const std::byte> bytes,
                          const std::string &name) {
  JpegDecoder decoder;
  if (!decoder.begin(reinterpret_cast<const unsigned char *>(bytes.data()),
                     bytes.size()))
    return badImage(name, decoder.message());
  if (decoder.width() * decoder.height() > maxPixels)
    return tooLarge(name, decoder.width(), decoder.height());
  Tensor image(ElementType::UI8,
               {decoder.height(), decoder.width(), decoder.channels()});
  if (!decoder.read(image.mutableValues<uint8_t>().data()))
    return badImage(name, decoder.message());
  if (decoder.isDamaged())
    return badImage(name, "its data are damaged or end too early");
  return image;
}

} // namespace

bool isImage(std::span<const std::byte> bytes) {
  return isPng(bytes) || isJpeg(bytes);
}

Result<Tensor> decodeImage(std::span<const std::byte> bytes,
                           const std::string &name) {
  return catchingOutOfMemory("'" + name + "'", [&]() -> Result<Tensor> {
    if (isPng(bytes))
      return decodePng(bytes, name);
    if (isJpeg(bytes))
      return decodeJpeg(bytes, name);
    return systemError("'" + name + "': neither a PNG nor a JPEG file");
  });
}

} // namespace sinter
