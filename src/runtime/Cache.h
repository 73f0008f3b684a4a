//===- Cache.h - compiled programs stored between runs --------------------===//
//
// A folder of program files, each named by a hash of everything that its
// contents depend on, so an entry is never wrong, only absent. Problems with
// the cache never fail a run. The least recently used entries are removed when
// the folder exceeds its limit.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_CACHE_H
#define SINTER_RUNTIME_CACHE_H

#include "runtime/Hash.h"
#include "runtime/MappedFile.h"
#include "runtime/Program.h"

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace sinter {

/// $XDG_CACHE_HOME/sinter, or ~/.cache/sinter; empty if neither variable is an
/// absolute path.
std::string defaultCacheFolder();

/// Creates \p folder, readable by this user only, if it does not exist. Failure
/// shows when it is written to.
void makeCacheFolder(const std::string &folder);

/// Whether only this user (or the system's) can have written the files in \p
/// folder, since code from there is executed: nobody else owns it or may write
/// to it, or it has the sticky bit, as /tmp has. True if it does not exist.
Result<void> checkCacheFolder(const std::string &folder);

/// The entry \p path of a cache's folder, null if there is none. An error if it
/// could be another user's: if its folder fails the test above, if it is no
/// regular file, or if others own it or may write to it.
Result<std::shared_ptr<const MappedFile>> openEntry(const std::string &path);

/// Writes text as an entry, with its hash.
Result<void> writeTextEntry(const std::string &path, const std::string &text);

/// The text in such an entry, nothing if there is none. An entry that is
/// damaged or that openEntry refuses is removed, with an error.
Result<std::optional<std::string>> readTextEntry(const std::string &path);

/// What a compiled program depends on.
class ProgramKey {
public:
  /// Whether it is code for this machine or independent of machines.
  enum class Machine { This, Any };

  /// Starts with Sinter's version and, for this machine, the features of its
  /// processor.
  explicit ProgramKey(Machine machine = Machine::This);
  /// Adds the contents of the model file, and then of each external data file.
  ProgramKey &addFile(std::span<const std::byte> contents);
  /// Adds everything else that matters as text: options, shapes, target.
  ProgramKey &addOptions(std::string_view text);
  Hash128 finish() const { return hasher.finish(); }

private:
  Hasher hasher;
};

class ProgramCache {
public:
  using Warn = std::function<void(const std::string &message)>;

  static constexpr uint64_t defaultLimit = uint64_t(10) << 30;

  /// A cache in \p folder, which is created when an entry is stored; an empty
  /// name means no cache. \p warn is called at most once, if the folder cannot
  /// be used; \p limit is in bytes.
  ProgramCache(std::string folder, Warn warn, uint64_t limit = defaultLimit);

  /// The program stored under \p key, or null. A damaged entry counts as
  /// absent, and is removed.
  std::shared_ptr<const Program> lookup(const Hash128 &key);

  /// Stores \p program, unless only this process can run it, and trims the
  /// folder.
  void store(const Hash128 &key, const Program &program);

  const std::string &folder() const { return name; }

private:
  std::string entryPath(const Hash128 &key) const;
  void trim();
  void warnOnce(const std::string &message);

  std::string name;
  Warn warn;
  uint64_t limit;
  std::once_flag warned;
};

} // namespace sinter

#endif // SINTER_RUNTIME_CACHE_H
