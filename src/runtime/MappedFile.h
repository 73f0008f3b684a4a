//===- MappedFile.h - files read in place and written whole ---------------===//
//
// A file that is only read is mapped, not copied: its pages belong to the page
// cache and count towards nobody's anonymous memory. A file that is written
// appears under its name complete or not at all.
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

/// A regular file's bytes, read-only. Everything that points into bytes() keeps
/// the shared_ptr. The mapping is private; a file that somebody truncates while
/// it is mapped cannot be defended against (the kernel sends SIGBUS).
class MappedFile {
public:
  /// Maps the regular file \p path.
  static Result<std::shared_ptr<const MappedFile>>
  open(const std::string &path);
  /// Maps the open file \p descriptor, which is closed in any case. \p path is
  /// for messages. For callers with rules of their own about what may be
  /// opened.
  static Result<std::shared_ptr<const MappedFile>>
  fromDescriptor(int descriptor, const std::string &path);

  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;
  ~MappedFile();

  /// The whole file; page-aligned, except that an empty file has no address.
  std::span<const std::byte> bytes() const { return contents; }
  std::string_view text() const {
    return {reinterpret_cast<const char *>(contents.data()), contents.size()};
  }
  const std::string &path() const { return name; }

private:
  MappedFile(std::span<const std::byte> contents, std::string name)
      : contents(contents), name(std::move(name)) {}

  std::span<const std::byte> contents;
  std::string name;
};

/// "cannot <action> 'path': <what errno says>".
Error fileError(std::string_view action, const std::string &path, int code);

/// The contents of \p path, which may be a pipe. More than \p limit bytes are
/// an error.
Result<std::string> readFile(const std::string &path, size_t limit = SIZE_MAX);

/// Whether a file's contents are on the disk when it has been written, or only
/// some time after.
enum class WriteMode { Synchronised, Unsynchronised };

/// Writes \p chunks one after the other to \p path: to a temporary file beside
/// it, which is synchronised to the disk, unless \p mode says
/// otherwise, and then renamed. After an error
/// \p path is as it was. Where \p path is a device or a pipe, it is written
/// directly; where it is a symbolic link, the file behind it is replaced.
Result<void>
writeFileAtomically(const std::string &path,
                    std::span<const std::span<const std::byte>> chunks,
                    WriteMode mode = WriteMode::Synchronised);
Result<void> writeFileAtomically(const std::string &path,
                                 std::string_view text);

/// A file and all that goes into it, one after the other.
struct FileContents {
  std::string path;
  std::vector<std::span<const std::byte>> chunks;
};

/// Writes files that belong together, as writeFileAtomically does: all are
/// written and synchronised before the first is renamed, and they are renamed
/// in this order. After an error in writing, all are as they were.
Result<void> writeFilesAtomically(std::span<const FileContents> files);

} // namespace sinter

#endif // SINTER_RUNTIME_MAPPEDFILE_H
