//===- Npz.cpp - NumPy's archives of arrays -------------------------------===//

#include "runtime/Npz.h"

#include "runtime/MappedFile.h"
#include "runtime/Npy.h"

#include <cstring>
#include <limits>
#include <optional>
#include <zlib.h>

namespace sinter {

namespace {

using Bytes = std::span<const std::byte>;

/// Little-endian numbers out of bytes; nothing beyond their end.
std::optional<uint64_t> numberAt(Bytes bytes, uint64_t offset, unsigned size) {
  if (offset > bytes.size() || bytes.size() - offset < size)
    return std::nullopt;
  uint64_t number = 0;
  for (unsigned i = 0; i < size; ++i)
    number |= static_cast<uint64_t>(bytes[offset + i]) << (8 * i);
  return number;
}

/// One file of the archive, as its central directory describes it (PKWARE's
/// APPNOTE.TXT, sections 4.3.12 and 4.5.3).
struct Entry {
  std::string name;
  uint64_t method = 0, packedSize = 0, size = 0, headerOffset = 0;
};

class Archive {
public:
  Archive(std::shared_ptr<const MappedFile> file, std::string path)
      : file(std::move(file)), path(std::move(path)),
        bytes(this->file->bytes()) {}

  Result<std::vector<Entry>> entries() const;
  Result<Tensor> array(const Entry &entry) const;

private:
  Error broken(const std::string &what) const {
    return usageError(path + ": not a sound .npz archive: " + what);
  }
  std::optional<uint64_t> directoryEnd() const;
  bool readSizes(Entry &entry, uint64_t extra, uint64_t length) const;
  Result<Tensor> inflated(const Entry &entry, Bytes packed) const;

  std::shared_ptr<const MappedFile> file;
  std::string path;
  Bytes bytes;
};

constexpr uint64_t inExtraField = 0xffffffff;

} // namespace

/// Where the record at the end of the archive begins.
std::optional<uint64_t> Archive::directoryEnd() const {
  constexpr uint64_t recordSize = 22, longestComment = 0xffff;
  constexpr uint64_t signature = 0x06054b50;
  for (uint64_t back = recordSize;
       back <= std::min<uint64_t>(bytes.size(), recordSize + longestComment);
       ++back)
    if (numberAt(bytes, bytes.size() - back, 4) == signature)
      return bytes.size() - back;
  return std::nullopt;
}

/// Takes the 64-bit sizes out of the extra field where the short ones say so.
bool Archive::readSizes(Entry &entry, uint64_t extra, uint64_t length) const {
  constexpr uint64_t zip64 = 1;
  const uint64_t end = extra + length;
  while (extra + 4 <= end) {
    const auto kind = numberAt(bytes, extra, 2);
    const auto size = numberAt(bytes, extra + 2, 2);
    if (!kind || !size)
      return false;
    uint64_t at = extra + 4;
    extra = at + *size;
    if (*kind != zip64)
      continue;
    for (uint64_t *field :
         {&entry.size, &entry.packedSize, &entry.headerOffset}) {
      if (*field != inExtraField)
        continue;
      const auto value = numberAt(bytes, at, 8);
      if (!value || at + 8 > extra)
        return false;
      *field = *value;
      at += 8;
    }
  }
  return true;
}

Result<std::vector<Entry>> Archive::entries() const {
  constexpr uint64_t signature = 0x02014b50, fixedSize = 46;
  const auto end = directoryEnd();
  const auto count = end ? numberAt(bytes, *end + 10, 2) : std::nullopt;
  const auto start = end ? numberAt(bytes, *end + 16, 4) : std::nullopt;
  if (!count || !start)
    return broken("it has no directory");
  std::vector<Entry> all;
  uint64_t at = *start;
  for (uint64_t i = 0; i < *count; ++i) {
    if (numberAt(bytes, at, 4) != signature)
      return broken("its directory is cut short");
    const auto field = [&](uint64_t offset, unsigned size) {
      return numberAt(bytes, at + offset, size).value_or(0);
    };
    const uint64_t nameSize = field(28, 2), extraSize = field(30, 2);
    const uint64_t next = at + fixedSize + nameSize + extraSize + field(32, 2);
    if (next > bytes.size())
      return broken("its directory is cut short");
    Entry entry;
    entry.name.assign(reinterpret_cast<const char *>(bytes.data()) + at +
                          fixedSize,
                      nameSize);
    entry.method = field(10, 2);
    entry.packedSize = field(20, 4);
    entry.size = field(24, 4);
    entry.headerOffset = field(42, 4);
    if (!readSizes(entry, at + fixedSize + nameSize, extraSize))
      return broken("the sizes of '" + entry.name + "' make no sense");
    all.push_back(std::move(entry));
    at = next;
  }
  return all;
}

Result<Tensor> Archive::inflated(const Entry &entry, Bytes packed) const {
  // Deflate packs at most 1032 to 1.
  if (entry.size > packed.size() * 1032 + 64 ||
      packed.size() > std::numeric_limits<uInt>::max() ||
      entry.size > std::numeric_limits<uInt>::max())
    return broken("the size of '" + entry.name + "' makes no sense");
  auto unpacked = std::make_shared<std::vector<std::byte>>(entry.size);
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return systemError(path + ": zlib cannot start");
  stream.next_in =
      reinterpret_cast<Bytef *>(const_cast<std::byte *>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef *>(unpacked->data());
  stream.avail_out = static_cast<uInt>(unpacked->size());
  const int status = inflate(&stream, Z_FINISH);
  const bool isWhole = status == Z_STREAM_END && stream.avail_out == 0;
  inflateEnd(&stream);
  if (!isWhole)
    return broken("'" + entry.name + "' cannot be unpacked");
  const Bytes contents = *unpacked;
  return parseNpy(contents, unpacked, path + ": " + entry.name);
}

Result<Tensor> Archive::array(const Entry &entry) const {
  constexpr uint64_t signature = 0x04034b50, fixedSize = 30;
  constexpr uint64_t stored = 0, deflated = 8;
  const uint64_t at = entry.headerOffset;
  const auto nameSize = numberAt(bytes, at + 26, 2);
  const auto extraSize = numberAt(bytes, at + 28, 2);
  if (at > bytes.size() || numberAt(bytes, at, 4) != signature || !nameSize ||
      !extraSize)
    return broken("'" + entry.name + "' is not where the directory says");
  const uint64_t start = at + fixedSize + *nameSize + *extraSize;
  if (start > bytes.size() || entry.packedSize > bytes.size() - start)
    return broken("'" + entry.name + "' is cut short");
  const Bytes packed = bytes.subspan(start, entry.packedSize);
  if (entry.method == stored)
    return parseNpy(packed, file, path + ": " + entry.name);
  if (entry.method == deflated)
    return inflated(entry, packed);
  return broken("'" + entry.name + "' is packed by method " +
                std::to_string(entry.method));
}

Result<std::vector<std::pair<std::string, Tensor>>>
readNpz(const std::string &path) {
  auto file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  const Archive archive(std::move(*file), path);
  Result<std::vector<Entry>> entries = archive.entries();
  if (!entries)
    return entries.takeError();
  std::vector<std::pair<std::string, Tensor>> arrays;
  for (const Entry &entry : *entries) {
    Result<Tensor> array = archive.array(entry);
    if (!array)
      return array.takeError();
    std::string name = entry.name;
    if (name.ends_with(".npy"))
      name.resize(name.size() - 4);
    arrays.emplace_back(std::move(name), std::move(*array));
  }
  return arrays;
}

} // namespace sinter
