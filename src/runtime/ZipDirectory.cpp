//===- ZipDirectory.cpp - the list of files in a zip archive --------------===//

#include "runtime/ZipDirectory.h"

#include <algorithm>

namespace sinter {

std::optional<uint64_t> littleEndianAt(std::span<const std::byte> bytes,
                                       uint64_t offset, unsigned size) {
  if (offset > bytes.size() || bytes.size() - offset < size)
    return std::nullopt;
  uint64_t number = 0;
  for (unsigned i = 0; i < size; ++i)
    number |= static_cast<uint64_t>(bytes[offset + i]) << (8 * i);
  return number;
}

bool beginsAsZip(std::span<const std::byte> bytes) {
  constexpr uint64_t localHeader = 0x04034b50;
  return littleEndianAt(bytes, 0, 4) == localHeader;
}

/// The offset of the end-of-central-directory record.
static std::optional<uint64_t>
zipDirectoryEnd(std::span<const std::byte> bytes) {
  constexpr uint64_t recordSize = 22, longestComment = 0xffff;
  constexpr uint64_t signature = 0x06054b50;
  for (uint64_t back = recordSize;
       back <= std::min<uint64_t>(bytes.size(), recordSize + longestComment);
       ++back)
    if (littleEndianAt(bytes, bytes.size() - back, 4) == signature)
      return bytes.size() - back;
  return std::nullopt;
}

/// Takes 64-bit sizes from the extra field if the 32-bit ones refer to it.
static bool readZipSizes(std::span<const std::byte> bytes, ZipEntry &entry,
                         uint64_t extra, uint64_t length) {
  constexpr uint64_t zip64 = 1, inExtraField = 0xffffffff;
  const uint64_t end = extra + length;
  while (extra + 4 <= end) {
    const auto kind = littleEndianAt(bytes, extra, 2);
    const auto size = littleEndianAt(bytes, extra + 2, 2);
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
      const auto value = littleEndianAt(bytes, at, 8);
      if (!value || at + 8 > extra)
        return false;
      *field = *value;
      at += 8;
    }
  }
  return true;
}

Result<std::vector<ZipEntry>> zipEntries(std::span<const std::byte> bytes) {
  constexpr uint64_t signature = 0x02014b50, fixedSize = 46;
  const auto end = zipDirectoryEnd(bytes);
  const auto count = end ? littleEndianAt(bytes, *end + 10, 2) : std::nullopt;
  const auto start = end ? littleEndianAt(bytes, *end + 16, 4) : std::nullopt;
  if (!count || !start)
    return systemError("it has no directory");
  std::vector<ZipEntry> all;
  uint64_t at = *start;
  for (uint64_t i = 0; i < *count; ++i) {
    if (littleEndianAt(bytes, at, 4) != signature)
      return systemError("its directory is cut short");
    const auto field = [&](uint64_t offset, unsigned size) {
      return littleEndianAt(bytes, at + offset, size).value_or(0);
    };
    const uint64_t nameSize = field(28, 2), extraSize = field(30, 2);
    const uint64_t next = at + fixedSize + nameSize + extraSize + field(32, 2);
    if (next > bytes.size())
      return systemError("its directory is cut short");
    ZipEntry entry;
    entry.name.assign(reinterpret_cast<const char *>(bytes.data()) + at +
                          fixedSize,
                      nameSize);
    entry.method = field(10, 2);
    entry.crc = field(16, 4);
    entry.packedSize = field(20, 4);
    entry.size = field(24, 4);
    entry.headerOffset = field(42, 4);
    if (!readZipSizes(bytes, entry, at + fixedSize + nameSize, extraSize))
      return systemError("the sizes of '" + entry.name + "' make no sense");
    all.push_back(std::move(entry));
    at = next;
  }
  return all;
}

} // namespace sinter
