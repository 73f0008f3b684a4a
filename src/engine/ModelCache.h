//===- ModelCache.h - what the cache keeps of a model ---------------------===//
//
// Its description, its programs, and why some sizes cannot be dynamic, each an
// entry by its key (ProgramKeys.h). An entry that is not to be used is made
// anew, with a note.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_ENGINE_MODELCACHE_H
#define SINTER_ENGINE_MODELCACHE_H

#include "engine/SessionNotes.h"
#include "runtime/Cache.h"

namespace sinter {

class ModelCache {
public:
  ModelCache(const SessionOptions &options, const SessionNotes &notes)
      : options(options), notes(notes),
        programs(options.cacheFolder, options.note) {}

  /// Whether there is a folder to keep things in.
  bool isThere() const { return !options.cacheFolder.empty(); }

  /// The description under \p key, of which the entry counts as used now.
  std::optional<ModelDescription> description(const Hash128 &key) const;
  void keepDescription(const Hash128 &key, const ModelDescription &model) const;

  /// The program under \p key, if it runs here or is for the machine that the
  /// options name.
  std::shared_ptr<const Program> program(const Hash128 &key);
  void keepProgram(const Hash128 &key, const Program &program) {
    programs.store(key, program);
  }

  /// Why there is no dynamic program under \p key, if that was found out.
  std::optional<std::string> refusal(const Hash128 &key) const;
  void keepRefusal(const Hash128 &key, const std::string &why) const;

private:
  std::string pathOf(const Hash128 &key, const char *kind) const;
  std::optional<std::string> textAt(const std::string &path) const;

  const SessionOptions &options;
  const SessionNotes &notes;
  ProgramCache programs;
};

} // namespace sinter

#endif // SINTER_ENGINE_MODELCACHE_H
