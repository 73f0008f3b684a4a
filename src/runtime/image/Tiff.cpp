//===- Tiff.cpp - TIFF files ----------------------------------------------===//
//
// By libtiff, which is loaded with the first TIFF file: it needs six libraries
// that nothing else does.
//
//===----------------------------------------------------------------------===//

#include "runtime/Image.h"
#include "runtime/image/Decoders.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <memory>

#include <tiffio.h>

namespace sinter::images {

namespace {

/// The functions of libtiff that are used.
struct TiffLibrary {
  decltype(&TIFFClientOpenExt) open = nullptr;
  decltype(&TIFFClose) close = nullptr;
  decltype(&TIFFGetFieldDefaulted) field = nullptr;
  decltype(&TIFFReadRGBAImageOriented) read = nullptr;
  decltype(&TIFFOpenOptionsAlloc) makeOptions = nullptr;
  decltype(&TIFFOpenOptionsFree) freeOptions = nullptr;
  decltype(&TIFFOpenOptionsSetErrorHandlerExtR) onError = nullptr;
  decltype(&TIFFOpenOptionsSetWarningHandlerExtR) onWarning = nullptr;
  decltype(&TIFFOpenOptionsSetMaxSingleMemAlloc) limit = nullptr;
  /// Why it cannot be used; else empty.
  std::string problem;

  template <typename Function>
  void find(void *library, Function &function, const char *name) {
    function = reinterpret_cast<Function>(::dlsym(library, name));
    if (!function)
      problem = std::string("it has no ") + name;
  }
};

/// Loads it once.
const TiffLibrary &tiffLibrary() {
  static const TiffLibrary loaded = [] {
    TiffLibrary all;
    void *library = ::dlopen(SINTER_TIFF_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      const char *why = ::dlerror();
      all.problem = why ? why : "it is not there";
      return all;
    }
    all.find(library, all.open, "TIFFClientOpenExt");
    all.find(library, all.close, "TIFFClose");
    all.find(library, all.field, "TIFFGetFieldDefaulted");
    all.find(library, all.read, "TIFFReadRGBAImageOriented");
    all.find(library, all.makeOptions, "TIFFOpenOptionsAlloc");
    all.find(library, all.freeOptions, "TIFFOpenOptionsFree");
    all.find(library, all.onError, "TIFFOpenOptionsSetErrorHandlerExtR");
    all.find(library, all.onWarning, "TIFFOpenOptionsSetWarningHandlerExtR");
    all.find(library, all.limit, "TIFFOpenOptionsSetMaxSingleMemAlloc");
    return all;
  }();
  return loaded;
}

/// The file in memory, and the first error.
struct TiffFile {
  std::span<const std::byte> bytes;
  uint64_t position = 0;
  std::string error;
};

tmsize_t readTiff(thandle_t handle, void *to, tmsize_t size) {
  auto &file = *static_cast<TiffFile *>(handle);
  if (size < 0 || file.position >= file.bytes.size())
    return 0;
  const size_t count =
      std::min(static_cast<size_t>(size), file.bytes.size() - file.position);
  std::memcpy(to, file.bytes.data() + file.position, count);
  file.position += count;
  return static_cast<tmsize_t>(count);
}

tmsize_t writeTiff(thandle_t, void *, tmsize_t) { return 0; }

toff_t seekTiff(thandle_t handle, toff_t offset, int whence) {
  auto &file = *static_cast<TiffFile *>(handle);
  if (whence == SEEK_CUR)
    offset += file.position;
  else if (whence == SEEK_END)
    offset += file.bytes.size();
  return file.position = offset;
}

int closeTiff(thandle_t) { return 0; }

toff_t sizeOfTiff(thandle_t handle) {
  return static_cast<TiffFile *>(handle)->bytes.size();
}

int noteTiffError(TIFF *, void *user, const char *, const char *format,
                  va_list arguments) {
  auto &file = *static_cast<TiffFile *>(user);
  char text[256];
  std::vsnprintf(text, sizeof(text), format, arguments);
  if (file.error.empty())
    file.error = text;
  return 1;
}

int ignoreTiffWarning(TIFF *, void *, const char *, const char *, va_list) {
  return 1;
}

struct CloseTiff {
  void operator()(TIFF *tiff) const { tiffLibrary().close(tiff); }
};
using OpenTiff = std::unique_ptr<TIFF, CloseTiff>;

OpenTiff openTiff(TiffFile &file) {
  const TiffLibrary &library = tiffLibrary();
  TIFFOpenOptions *options = library.makeOptions();
  if (!options)
    return nullptr;
  library.onError(options, noteTiffError, &file);
  library.onWarning(options, ignoreTiffWarning, nullptr);
  // A strip or a tile of an image of maxPixels has at most so many bytes.
  library.limit(options, tmsize_t(maxPixels) * 8);
  // "m": no mapping of the file.
  OpenTiff tiff(library.open("TIFF", "rm", &file, readTiff, writeTiff, seekTiff,
                             closeTiff, sizeOfTiff, nullptr, nullptr, options));
  library.freeOptions(options);
  return tiff;
}

} // namespace

Result<Tensor> decodeTiff(std::span<const std::byte> bytes,
                          const std::string &name) {
  const TiffLibrary &library = tiffLibrary();
  if (!library.problem.empty())
    return systemError("'" + name +
                       "': TIFF files need " SINTER_TIFF_LIBRARY ": " +
                       library.problem);
  TiffFile file{bytes, 0, {}};
  const OpenTiff tiff = openTiff(file);
  const auto refuse = [&] {
    return badImage(name,
                    file.error.empty() ? "its header is damaged" : file.error);
  };
  uint32_t width = 0, height = 0;
  uint16_t orientation = 1, samples = 1, photometric = 0;
  if (!tiff || !library.field(tiff.get(), TIFFTAG_IMAGEWIDTH, &width) ||
      !library.field(tiff.get(), TIFFTAG_IMAGELENGTH, &height))
    return refuse();
  if (Result<void> good = checkImageSize(name, width, height); !good)
    return good.takeError();
  library.field(tiff.get(), TIFFTAG_ORIENTATION, &orientation);
  library.field(tiff.get(), TIFFTAG_SAMPLESPERPIXEL, &samples);
  library.field(tiff.get(), TIFFTAG_PHOTOMETRIC, &photometric);
  std::vector<uint32_t> raster(size_t(width) * height);
  // In the file's own order.
  if (!library.read(tiff.get(), width, height, raster.data(),
                    orientation >= 1 && orientation <= 8 ? orientation : 1,
                    /*stopOnError=*/1))
    return refuse();
  const bool isGrey = photometric == PHOTOMETRIC_MINISBLACK ||
                      photometric == PHOTOMETRIC_MINISWHITE;
  // Bytes of a pixel: red, green, blue, alpha.
  const std::span<const uint8_t> pixels(
      reinterpret_cast<const uint8_t *>(raster.data()), raster.size() * 4);
  return upright(keptChannels(pixels, height, width, 4, isGrey ? 1 : 3),
                 orientation);
}

} // namespace sinter::images
