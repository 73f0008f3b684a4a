//===- Cache.h - finished programs, kept from run to run ------------------===//
//
// A folder of program files, each named by a hash of everything that its
// contents depend on, so an entry is never wrong, only absent. The cache is a
// convenience: nothing that is wrong with it makes a run fail. Old entries, by
// last use, give way when the folder grows beyond its limit.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_CACHE_H
#define SINTER_RUNTIME_CACHE_H

#include "runtime/Hash.h"
#include "runtime/Program.h"

#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace sinter {

/// $XDG_CACHE_HOME/sinter, or ~/.cache/sinter; empty where neither variable is
/// set to an absolute path.
std::string defaultCacheFolder();

/// Makes \p folder, for nobody else to read, if it is not there. That it could
/// not be made shows when it is written to.
void makeCacheFolder(const std::string &folder);

/// What a compiled program depends on.
class ProgramKey {
public:
  /// Starts with Sinter's version and this machine's processor features.
  ProgramKey();
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

  /// A cache in \p folder, which is made when something is stored; an empty
  /// name means no cache. \p warn is called at most once, when the folder
  /// cannot be used; \p limit is in bytes.
  ProgramCache(std::string folder, Warn warn, uint64_t limit = defaultLimit);

  /// The program stored under \p key, or null. A damaged entry counts as
  /// absent, and is removed.
  std::shared_ptr<const Program> lookup(const Hash128 &key);

  /// Stores \p program, unless it is of this process, and trims the folder.
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
