//===- TemporaryFiles.h - files before they get their name ----------------===//
//
// A file that is written whole or not at all is first written beside its place,
// as NAME.tmp-PROCESS-NUMBER, locked (flock) while its process lives. What a
// process leaves that was killed, a later one removes.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_TEMPORARYFILES_H
#define SINTER_RUNTIME_TEMPORARYFILES_H

#include <string>
#include <sys/types.h>

namespace sinter {

/// From now on an interrupt, a termination or a hang-up that ends this process
/// removes its temporary files first. Signals that are ignored stay so. For
/// programs of our own: a library leaves the signals of its process alone.
void removeTemporaryFilesOnSignals();

/// A new file beside another, which it may replace.
class TemporaryFile {
public:
  /// Creates one beside \p target, with \p mode and the umask. On failure errno
  /// says why.
  TemporaryFile(std::string target, mode_t mode);
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;
  /// Removes it, unless it has replaced its target.
  ~TemporaryFile();

  /// Open for writing, or negative.
  int descriptor() const { return file; }
  /// Renames it to its target. On failure errno says why.
  bool replaceTarget();

private:
  std::string target, name;
  /// The name for signal handlers; null if there are too many files.
  struct Slot *slot = nullptr;
  int file = -1;
};

/// Removes temporary files in \p folder whose names begin with \p prefix and
/// whose processes are gone.
void removeLeftovers(const std::string &folder, const std::string &prefix = "");

} // namespace sinter

#endif // SINTER_RUNTIME_TEMPORARYFILES_H
