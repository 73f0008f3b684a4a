//===- MemoryFiles.h - files that are in memory ---------------------------===//
//
// Whatever reads or writes files by MappedFile.h takes a path of a file in
// memory, too: models come from memory and go there by the code that reads and
// writes them on disk.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_MEMORYFILES_H
#define SINTER_RUNTIME_MEMORYFILES_H

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sinter {

/// The bytes of a file, and what keeps them.
struct FileInMemory {
  std::string name;
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

/// Files of the process, which have paths while the folder lives. Threads may
/// share it.
class MemoryFolder {
public:
  /// \p base: the folder on disk that has the files to which these refer by
  /// relative paths, such as external data; empty: there are none.
  explicit MemoryFolder(const std::string &base = "");
  MemoryFolder(const MemoryFolder &) = delete;
  MemoryFolder &operator=(const MemoryFolder &) = delete;
  /// What was opened before stays as it is.
  ~MemoryFolder();

  /// The path of the file called \p name, to be read or written. A slash in the
  /// name becomes "_".
  std::string path(const std::string &name) const;
  /// Adds a file, or replaces it. \p bytes are not copied: \p owner keeps them.
  void add(const std::string &name, std::span<const std::byte> bytes,
           std::shared_ptr<const void> owner);
  /// All files, in the order of their names.
  std::vector<FileInMemory> files() const;

  struct State;

private:
  std::shared_ptr<State> state;
};

/// Whether \p path is in a MemoryFolder that lives.
bool isInMemory(const std::string &path);
/// The file in memory at \p path; nothing if there is none.
std::optional<FileInMemory> memoryFileAt(const std::string &path);
/// Makes the concatenation of \p chunks the file at \p path; false if that is
/// not in memory (any more).
bool writeMemoryFile(const std::string &path,
                     std::span<const std::span<const std::byte>> chunks);

} // namespace sinter

#endif // SINTER_RUNTIME_MEMORYFILES_H
