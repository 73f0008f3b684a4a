//===- MappedFile.h - mapped reads and atomic writes of files -------------===//
//
// A file that is only read is mapped, not copied: its pages belong to the page
// cache. A written file appears under its name complete or not at all.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_MAPPEDFILE_H
#define SINTER_RUNTIME_MAPPEDFILE_H

#include "runtime/Result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter {

/// The bytes of a regular file, or of one in memory (MemoryFiles.h), read-only.
/// Everything that points into bytes() keeps the shared_ptr. The mapping is
/// private; a file that somebody truncates while it is mapped cannot be
/// defended against (the kernel sends SIGBUS).
class MappedFile {
public:
  /// Maps the regular file \p path, or takes the one in memory.
  static Result<std::shared_ptr<const MappedFile>>
  open(const std::string &path);
  /// Maps the open file \p descriptor, and closes it in any case. \p path is
  /// for messages. For callers with rules of their own about which files to
  /// open.
  static Result<std::shared_ptr<const MappedFile>>
  fromDescriptor(int descriptor, const std::string &path);

  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;
  ~MappedFile();

  /// The whole file; page-aligned, unless it is in memory or empty.
  std::span<const std::byte> bytes() const { return contents; }
  std::string_view text() const {
    return {reinterpret_cast<const char *>(contents.data()), contents.size()};
  }
  const std::string &path() const { return name; }

private:
  MappedFile(std::span<const std::byte> contents, std::string name,
             std::shared_ptr<const void> owner)
      : contents(contents), name(std::move(name)), owner(std::move(owner)) {}

  std::span<const std::byte> contents;
  std::string name;
  /// Keeps the bytes of a file in memory; null for one that is mapped.
  std::shared_ptr<const void> owner;
};

/// "cannot <action> 'path': <text of errno>".
Error fileError(std::string_view action, const std::string &path, int code);

/// The contents of \p path, which may be a pipe. More than \p limit bytes are
/// an error.
Result<std::string> readFile(const std::string &path, size_t limit = SIZE_MAX);

/// Whether a written file's contents are on the disk on return, or later.
enum class WriteMode { Synchronised, Unsynchronised };

/// The permissions of a written file: as before, or by the umask; or for its
/// owner alone.
enum class Access { AsItWas, OwnerOnly };

/// Writes the concatenated \p chunks to \p path: to a temporary file beside it,
/// which is synchronised to the disk, unless \p mode says otherwise, and then
/// renamed. After an error \p path is unchanged. If \p path is a device or a
/// pipe, it is written directly; if it is a symbolic link, its target is
/// replaced.
Result<void> writeFileAtomically(
    const std::string &path, std::span<const std::span<const std::byte>> chunks,
    WriteMode mode = WriteMode::Synchronised, Access access = Access::AsItWas);
Result<void> writeFileAtomically(const std::string &path, std::string_view text,
                                 Access access = Access::AsItWas);

/// A file and its contents, in chunks.
struct FileContents {
  std::string path;
  std::vector<std::span<const std::byte>> chunks;
};

/// Writes files that belong together, as writeFileAtomically does: all are
/// written and synchronised before the first is renamed, and they are renamed
/// in this order. After an error in writing, all are unchanged.
Result<void> writeFilesAtomically(std::span<const FileContents> files);

} // namespace sinter

#endif // SINTER_RUNTIME_MAPPEDFILE_H
