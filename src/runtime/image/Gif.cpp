//===- Gif.cpp - the first frame of GIF files -----------------------------===//

#include "runtime/image/Decoders.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include <gif_lib.h>

namespace sinter::images {

namespace {

struct CloseGif {
  void operator()(GifFileType *gif) const { DGifCloseFile(gif, nullptr); }
};
using GifFile = std::unique_ptr<GifFileType, CloseGif>;

int readGif(GifFileType *gif, GifByteType *to, int size) {
  auto &rest = *static_cast<std::span<const std::byte> *>(gif->UserData);
  const size_t count = std::min(static_cast<size_t>(size), rest.size());
  // Nothing may be copied from a null pointer.
  if (count != 0)
    std::memcpy(to, rest.data(), count);
  rest = rest.subspan(count);
  return static_cast<int>(count);
}

Error damagedGif(const std::string &name, int code) {
  const char *text = GifErrorString(code);
  return badImage(name, text ? text : "its data are damaged or end too early");
}

/// Skips what is before the first frame.
bool findFrame(GifFileType *gif) {
  GifRecordType record = UNDEFINED_RECORD_TYPE;
  while (DGifGetRecordType(gif, &record) == GIF_OK) {
    if (record == IMAGE_DESC_RECORD_TYPE)
      return DGifGetImageDesc(gif) == GIF_OK;
    if (record != EXTENSION_RECORD_TYPE)
      return false;
    int code = 0;
    GifByteType *block = nullptr;
    if (DGifGetExtension(gif, &code, &block) != GIF_OK)
      return false;
    while (block)
      if (DGifGetExtensionNext(gif, &block) != GIF_OK)
        return false;
  }
  return false;
}

/// The colour with an index; black if there is none.
GifColorType colourAt(const ColorMapObject *map, int index) {
  return map && index >= 0 && index < map->ColorCount ? map->Colors[index]
                                                      : GifColorType{};
}

/// The rows of a frame in the order of the file.
std::vector<int> rowsInFile(int height, bool isInterlaced) {
  std::vector<int> rows;
  const auto every = [&](int first, int step) {
    for (int row = first; row < height; row += step)
      rows.push_back(row);
  };
  if (!isInterlaced) {
    every(0, 1);
    return rows;
  }
  // GIF89a, appendix E.
  every(0, 8);
  every(4, 8);
  every(2, 4);
  every(1, 2);
  return rows;
}

} // namespace

Result<Tensor> decodeGif(std::span<const std::byte> bytes,
                         const std::string &name) {
  std::span<const std::byte> rest = bytes;
  int code = 0;
  const GifFile gif(DGifOpen(&rest, readGif, &code));
  if (!gif)
    return damagedGif(name, code);
  if (Result<void> good =
          checkImageSize(name, static_cast<uint64_t>(gif->SWidth),
                         static_cast<uint64_t>(gif->SHeight));
      !good)
    return good.takeError();
  if (!findFrame(gif.get()))
    return damagedGif(name, gif->Error);
  const GifImageDesc &frame = gif->Image;
  if (frame.Left < 0 || frame.Top < 0 || frame.Width < 1 || frame.Height < 1 ||
      frame.Width > gif->SWidth - frame.Left ||
      frame.Height > gif->SHeight - frame.Top)
    return badImage(name, "its first frame lies outside of the image");
  Tensor image(ElementType::UI8, {gif->SHeight, gif->SWidth, 3});
  const std::span<uint8_t> pixels = image.mutableValues<uint8_t>();
  const auto set = [&](size_t pixel, GifColorType colour) {
    pixels[pixel * 3] = colour.Red;
    pixels[pixel * 3 + 1] = colour.Green;
    pixels[pixel * 3 + 2] = colour.Blue;
  };
  if (frame.Width != gif->SWidth || frame.Height != gif->SHeight)
    for (size_t pixel = 0; pixel < pixels.size() / 3; ++pixel)
      set(pixel, colourAt(gif->SColorMap, gif->SBackGroundColor));
  const ColorMapObject *map = frame.ColorMap ? frame.ColorMap : gif->SColorMap;
  if (!map)
    return badImage(name, "it has no colours");
  std::vector<GifPixelType> line(static_cast<size_t>(frame.Width));
  for (int row : rowsInFile(frame.Height, frame.Interlace)) {
    if (DGifGetLine(gif.get(), line.data(), frame.Width) != GIF_OK)
      return damagedGif(name, gif->Error);
    size_t pixel = static_cast<size_t>(frame.Top + row) *
                       static_cast<size_t>(gif->SWidth) +
                   static_cast<size_t>(frame.Left);
    for (GifPixelType index : line)
      set(pixel++, colourAt(map, index));
  }
  return image;
}

} // namespace sinter::images
