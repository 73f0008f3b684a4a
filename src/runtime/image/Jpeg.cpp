//===- Jpeg.cpp - JPEG files ----------------------------------------------===//

#include "runtime/image/Decoders.h"

#include <csetjmp>
#include <cstdio>
#include <cstring>

#include <jpeglib.h>

namespace sinter::images {

namespace {

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
    // Exif data are in an APP1 marker.
    jpeg_save_markers(&info, JPEG_APP0 + 1, 0xffff);
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

  /// By the first Exif data; 1 without.
  unsigned orientation() const {
    constexpr std::string_view magic("Exif\0\0", 6);
    for (const auto *each = info.marker_list; each; each = each->next)
      if (each->marker == JPEG_APP0 + 1 && each->data_length > magic.size() &&
          std::memcmp(each->data, magic.data(), magic.size()) == 0)
        return exifOrientation(
            std::as_bytes(std::span(each->data, each->data_length))
                .subspan(magic.size()));
    return 1;
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

} // namespace

Result<Tensor> decodeJpeg(std::span<const std::byte> bytes,
                          const std::string &name) {
  JpegDecoder decoder;
  if (!decoder.begin(reinterpret_cast<const unsigned char *>(bytes.data()),
                     bytes.size()))
    return badImage(name, decoder.message());
  if (Result<void> good =
          checkImageSize(name, static_cast<uint64_t>(decoder.width()),
                         static_cast<uint64_t>(decoder.height()));
      !good)
    return good.takeError();
  Tensor image(ElementType::UI8,
               {decoder.height(), decoder.width(), decoder.channels()});
  if (!decoder.read(image.mutableValues<uint8_t>().data()))
    return badImage(name, decoder.message());
  if (decoder.isDamaged())
    return badImage(name, "its data are damaged or end too early");
  return upright(std::move(image), decoder.orientation());
}

} // namespace sinter::images
