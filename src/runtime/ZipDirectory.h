//===- ZipDirectory.h - the list of files in a zip archive ----------------===//

#ifndef SINTER_RUNTIME_ZIPDIRECTORY_H
#define SINTER_RUNTIME_ZIPDIRECTORY_H

#include "runtime/Result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sinter {

/// A file of the archive, by its central directory (PKWARE's APPNOTE.TXT,
/// sections 4.3.12 and 4.5.3). Nothing is checked against its local header.
struct ZipEntry {
  std::string name;
  uint64_t method = 0, crc = 0, packedSize = 0, size = 0, headerOffset = 0;
};

/// Whether \p bytes begin as a zip archive that holds a file.
bool beginsAsZip(std::span<const std::byte> bytes);

/// The files in the archive \p bytes, in its order. A System error says what is
/// wrong with the directory, without a file's name.
Result<std::vector<ZipEntry>> zipEntries(std::span<const std::byte> bytes);

/// The little-endian number of \p size bytes at \p offset; nothing beyond the
/// end.
std::optional<uint64_t> littleEndianAt(std::span<const std::byte> bytes,
                                       uint64_t offset, unsigned size);

} // namespace sinter

#endif // SINTER_RUNTIME_ZIPDIRECTORY_H
