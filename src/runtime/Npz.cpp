//===- Npz.cpp - NumPy's archives of arrays -------------------------------===//

#include "runtime/Npz.h"

#include "runtime/MappedFile.h"
#include "runtime/Npy.h"
#include "runtime/OutOfMemory.h"

#include <algorithm>
#include <optional>
#include <zlib.h>

namespace sinter {

namespace {

using Bytes = std::span<const std::byte>;

/// Little-endian integers from bytes; nothing beyond their end.
std::optional<uint64_t> numberAt(Bytes bytes, uint64_t offset, unsigned size) {
  if (offset > bytes.size() || bytes.size() - offset < size)
    return std::nullopt;
  uint64_t number = 0;
  for (unsigned i = 0; i < size; ++i)
    number |= static_cast<uint64_t>(bytes[offset + i]) << (8 * i);
  return number;
}

/// A file of the archive, by its central directory (PKWARE's APPNOTE.TXT,
/// sections 4.3.12 and 4.5.3).
struct ArchiveEntry {
  std::string name;
  uint64_t method = 0, crc = 0, packedSize = 0, size = 0, headerOffset = 0;
};

class Archive {
public:
  Archive(std::shared_ptr<const MappedFile> file, std::string path)
      : file(std::move(file)), path(std::move(path)),
        bytes(this->file->bytes()) {}

  Result<std::vector<ArchiveEntry>> entries() const;
  /// Whether no two files share bytes. Otherwise a small archive could hold the
  /// same ones any number of times.
  Result<void> checkApart(const std::vector<ArchiveEntry> &entries) const;
  Result<Tensor> array(const ArchiveEntry &entry) const;

private:
  Error broken(const std::string &what) const {
    return inFile(systemError("not a sound .npz archive: " + what), path);
  }
  std::optional<uint64_t> directoryEnd() const;
  bool readSizes(ArchiveEntry &entry, uint64_t extra, uint64_t length) const;
  Result<Bytes> packedBytes(const ArchiveEntry &entry) const;
  Result<std::shared_ptr<const std::vector<std::byte>>>
  inflated(const ArchiveEntry &entry, Bytes packed) const;

  std::shared_ptr<const MappedFile> file;
  std::string path;
  Bytes bytes;
};

constexpr uint64_t inExtraField = 0xffffffff;

} // namespace

/// The offset of the end-of-central-directory record.
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

/// Takes 64-bit sizes from the extra field if the 32-bit ones refer to it.
bool Archive::readSizes(ArchiveEntry &entry, uint64_t extra,
                        uint64_t length) const {
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

Result<std::vector<ArchiveEntry>> Archive::entries() const {
  constexpr uint64_t signature = 0x02014b50, fixedSize = 46;
  const auto end = directoryEnd();
  const auto count = end ? numberAt(bytes, *end + 10, 2) : std::nullopt;
  const auto start = end ? numberAt(bytes, *end + 16, 4) : std::nullopt;
  if (!count || !start)
    return broken("it has no directory");
  std::vector<ArchiveEntry> all;
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
    ArchiveEntry entry;
    entry.name.assign(reinterpret_cast<const char *>(bytes.data()) + at +
                          fixedSize,
                      nameSize);
    entry.method = field(10, 2);
    entry.crc = field(16, 4);
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

/// The bytes of \p entry, by its local header.
Result<Bytes> Archive::packedBytes(const ArchiveEntry &entry) const {
  constexpr uint64_t signature = 0x04034b50, fixedSize = 30;
  const uint64_t at = entry.headerOffset;
  const auto nameSize = numberAt(bytes, at + 26, 2);
  const auto extraSize = numberAt(bytes, at + 28, 2);
  if (at > bytes.size() || numberAt(bytes, at, 4) != signature || !nameSize ||
      !extraSize)
    return broken("'" + entry.name + "' is not where the directory says");
  const uint64_t start = at + fixedSize + *nameSize + *extraSize;
  if (start > bytes.size() || entry.packedSize > bytes.size() - start)
    return broken("'" + entry.name + "' is cut short");
  return bytes.subspan(start, entry.packedSize);
}

Result<void>
Archive::checkApart(const std::vector<ArchiveEntry> &entries) const {
  struct Part {
    uint64_t begin, end;
    const ArchiveEntry *entry;
  };
  std::vector<Part> parts;
  for (const ArchiveEntry &entry : entries) {
    Result<Bytes> packed = packedBytes(entry);
    if (!packed)
      return packed.takeError();
    const auto end = packed->data() + packed->size() - bytes.data();
    parts.push_back({entry.headerOffset, static_cast<uint64_t>(end), &entry});
  }
  std::ranges::sort(parts, {}, &Part::begin);
  for (size_t i = 1; i < parts.size(); ++i)
    if (parts[i].begin < parts[i - 1].end)
      return broken("'" + parts[i - 1].entry->name + "' and '" +
                    parts[i].entry->name + "' overlap");
  return {};
}

Result<std::shared_ptr<const std::vector<std::byte>>>
Archive::inflated(const ArchiveEntry &entry, Bytes packed) const {
  // Deflate compresses at most 1032 to 1.
  if (entry.size / 1032 > packed.size() + 1)
    return broken("the size of '" + entry.name + "' makes no sense");
  std::shared_ptr<std::vector<std::byte>> unpacked;
  if (Result<void> made = catchingOutOfMemory(
          "'" + entry.name + "'",
          [&]() -> Result<void> {
            unpacked = std::make_shared<std::vector<std::byte>>(entry.size);
            return {};
          });
      !made)
    return inFile(systemError(made.error().message()), path);
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return inFile(systemError("zlib cannot start"), path);
  // zlib counts in 32 bits.
  constexpr size_t most = size_t(1) << 30;
  Bytes source = packed;
  std::span<std::byte> target = *unpacked;
  int status = Z_OK;
  while (status == Z_OK) {
    const size_t given = std::min(source.size(), most),
                 room = std::min(target.size(), most);
    stream.next_in =
        reinterpret_cast<Bytef *>(const_cast<std::byte *>(source.data()));
    stream.avail_in = static_cast<uInt>(given);
    stream.next_out = reinterpret_cast<Bytef *>(target.data());
    stream.avail_out = static_cast<uInt>(room);
    status = inflate(&stream, Z_NO_FLUSH);
    source = source.subspan(given - stream.avail_in);
    target = target.subspan(room - stream.avail_out);
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END || !target.empty() || !source.empty())
    return broken("'" + entry.name + "' cannot be unpacked");
  return std::shared_ptr<const std::vector<std::byte>>(std::move(unpacked));
}

Result<Tensor> Archive::array(const ArchiveEntry &entry) const {
  constexpr uint64_t stored = 0, deflated = 8;
  Result<Bytes> packed = packedBytes(entry);
  if (!packed)
    return packed.takeError();
  Bytes contents = *packed;
  std::shared_ptr<const void> owner = file;
  if (entry.method == deflated) {
    auto unpacked = inflated(entry, *packed);
    if (!unpacked)
      return unpacked.takeError();
    contents = **unpacked;
    owner = std::move(*unpacked);
  } else if (entry.method != stored) {
    return inFile(unsupported("'" + entry.name + "' is packed by method " +
                              std::to_string(entry.method) +
                              "; numpy.savez_compressed uses 8"),
                  path);
  }
  const auto *data = reinterpret_cast<const Bytef *>(contents.data());
  if (contents.size() != entry.size ||
      crc32_z(crc32_z(0, nullptr, 0), data, contents.size()) != entry.crc)
    return broken("'" + entry.name + "' is damaged: its checksum is wrong");
  return parseNpy(contents, std::move(owner), path + ": " + entry.name);
}

Result<std::vector<std::pair<std::string, Tensor>>>
readNpz(const std::string &path) {
  auto file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  const Archive archive(std::move(*file), path);
  Result<std::vector<ArchiveEntry>> entries = archive.entries();
  if (!entries)
    return entries.takeError();
  if (Result<void> apart = archive.checkApart(*entries); !apart)
    return apart.takeError();
  std::vector<std::pair<std::string, Tensor>> arrays;
  for (const ArchiveEntry &entry : *entries) {
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
