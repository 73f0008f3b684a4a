//===- Npz.cpp - NumPy's archives of arrays -------------------------------===//

#include "runtime/Npz.h"

#include "runtime/MappedFile.h"
#include "runtime/Npy.h"
#include "runtime/OutOfMemory.h"
#include "runtime/ZipDirectory.h"

#include <algorithm>
#include <zlib.h>

namespace sinter {

namespace {

using Bytes = std::span<const std::byte>;

class Archive {
public:
  Archive(std::shared_ptr<const MappedFile> file, std::string path)
      : file(std::move(file)), path(std::move(path)),
        bytes(this->file->bytes()) {}

  Result<std::vector<ZipEntry>> entries() const;
  /// Whether no two files share bytes. Otherwise a small archive could hold the
  /// same ones any number of times.
  Result<void> checkApart(const std::vector<ZipEntry> &entries) const;
  Result<Tensor> array(const ZipEntry &entry) const;

private:
  Error broken(const std::string &what) const {
    return inFile(systemError("not a sound .npz archive: " + what), path);
  }
  Result<Bytes> packedBytes(const ZipEntry &entry) const;
  Result<std::shared_ptr<const std::vector<std::byte>>>
  inflated(const ZipEntry &entry, Bytes packed) const;

  std::shared_ptr<const MappedFile> file;
  std::string path;
  Bytes bytes;
};

} // namespace

Result<std::vector<ZipEntry>> Archive::entries() const {
  Result<std::vector<ZipEntry>> all = zipEntries(bytes);
  if (!all)
    return broken(all.error().what);
  return all;
}

/// The bytes of \p entry, by its local header.
Result<Bytes> Archive::packedBytes(const ZipEntry &entry) const {
  constexpr uint64_t signature = 0x04034b50, fixedSize = 30;
  const uint64_t at = entry.headerOffset;
  const auto nameSize = littleEndianAt(bytes, at + 26, 2);
  const auto extraSize = littleEndianAt(bytes, at + 28, 2);
  if (at > bytes.size() || littleEndianAt(bytes, at, 4) != signature ||
      !nameSize || !extraSize)
    return broken("'" + entry.name + "' is not where the directory says");
  const uint64_t start = at + fixedSize + *nameSize + *extraSize;
  if (start > bytes.size() || entry.packedSize > bytes.size() - start)
    return broken("'" + entry.name + "' is cut short");
  return bytes.subspan(start, entry.packedSize);
}

Result<void> Archive::checkApart(const std::vector<ZipEntry> &entries) const {
  struct Part {
    uint64_t begin, end;
    const ZipEntry *entry;
  };
  std::vector<Part> parts;
  for (const ZipEntry &entry : entries) {
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
Archive::inflated(const ZipEntry &entry, Bytes packed) const {
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

Result<Tensor> Archive::array(const ZipEntry &entry) const {
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
  Result<std::vector<ZipEntry>> entries = archive.entries();
  if (!entries)
    return entries.takeError();
  if (Result<void> apart = archive.checkApart(*entries); !apart)
    return apart.takeError();
  std::vector<std::pair<std::string, Tensor>> arrays;
  for (const ZipEntry &entry : *entries) {
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
