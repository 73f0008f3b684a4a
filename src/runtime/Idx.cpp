//===- Idx.cpp - arrays of bytes in the form of MNIST ---------------------===//

#include "runtime/Idx.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <zlib.h>

namespace sinter {

namespace {

struct Close {
  void operator()(gzFile file) const { gzclose(file); }
};
/// zlib also reads uncompressed files.
using Stream = std::unique_ptr<gzFile_s, Close>;

constexpr unsigned mostDimensions = 8;

/// The number of dimensions in the first four bytes, or an error.
Result<unsigned> dimensionsOf(const std::array<uint8_t, 4> &magic,
                              const std::string &path) {
  if (magic[0] != 0 || magic[1] != 0)
    return inFile(systemError("this is no IDX file: it begins with two "
                              "bytes of 0"),
                  path);
  if (magic[2] != 8)
    return inFile(systemError("an IDX file of elements of the kind " +
                              std::to_string(magic[2]) +
                              "; only bytes without a sign (8) are read"),
                  path);
  if (magic[3] == 0 || magic[3] > mostDimensions)
    return inFile(systemError("an IDX file of " + std::to_string(magic[3]) +
                              " dimensions"),
                  path);
  return magic[3];
}

} // namespace

static bool readAll(gzFile file, uint8_t *place, size_t size) {
  while (size != 0) {
    const auto part = static_cast<unsigned>(std::min<size_t>(size, 1u << 20));
    const int got = gzread(file, place, part);
    if (got <= 0)
      return false;
    place += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

bool isIdx(const std::string &path) {
  const Stream file(gzopen(path.c_str(), "rb"));
  std::array<uint8_t, 4> magic{};
  return file && readAll(file.get(), magic.data(), magic.size()) &&
         magic[0] == 0 && magic[1] == 0 && magic[2] >= 8 && magic[2] <= 14 &&
         magic[3] >= 1 && magic[3] <= mostDimensions;
}

Result<Tensor> readIdx(const std::string &path) {
  errno = 0;
  const Stream file(gzopen(path.c_str(), "rb"));
  if (!file)
    return systemError("cannot read '" + path + "': " +
                       (errno ? std::strerror(errno) : "out of memory"));
  const auto cutShort = [&] {
    return inFile(systemError("the IDX file is cut short"), path);
  };
  std::array<uint8_t, 4> magic{};
  if (!readAll(file.get(), magic.data(), magic.size()))
    return cutShort();
  Result<unsigned> dimensions = dimensionsOf(magic, path);
  if (!dimensions)
    return dimensions.takeError();
  Shape shape;
  for (unsigned i = 0; i < *dimensions; ++i) {
    std::array<uint8_t, 4> size{};
    if (!readAll(file.get(), size.data(), size.size()))
      return cutShort();
    shape.push_back(int64_t(size[0]) << 24 | int64_t(size[1]) << 16 |
                    int64_t(size[2]) << 8 | int64_t(size[3]));
  }
  const std::optional<uint64_t> count = byteCount(ElementType::UI8, shape);
  if (!count)
    return inFile(systemError("the IDX file's sizes make no sense"), path);
  // A header may state more than the file has, so memory grows as data are
  // read.
  std::vector<uint8_t> elements;
  while (elements.size() < *count) {
    const size_t old = elements.size();
    elements.resize(std::min<uint64_t>(*count, old + (1u << 22)));
    if (!readAll(file.get(), elements.data() + old, elements.size() - old))
      return cutShort();
  }
  uint8_t more = 0;
  if (gzread(file.get(), &more, 1) != 0)
    return inFile(systemError("the IDX file has more elements than its "
                              "header says, or is damaged"),
                  path);
  return Tensor::of<uint8_t>(ElementType::UI8, shape, elements);
}

} // namespace sinter
