//===- ProgramKeys.h - hashes of what a model's programs follow from ------===//
//
// By them the cache finds what was made of a model before, and processes that
// run together know that they run the same.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_ENGINE_PROGRAMKEYS_H
#define SINTER_ENGINE_PROGRAMKEYS_H

#include "engine/SessionOptions.h"
#include "runtime/Hash.h"

#include <map>

namespace sinter {

class ProgramKey;

/// The keys of the model at \p path. The contents of a file are hashed once, as
/// long as its size and times stay. Errors: System where a file cannot be read.
class ProgramKeys {
public:
  ProgramKeys(std::string path, const SessionOptions &options)
      : path(std::move(path)), options(options) {}

  /// Of the model's own files, what is wanted of it, the processor and the
  /// build of the compiler. The first call decides.
  Result<Hash128> model();

  /// Of all that results follow from but inputs and machine: the model with its
  /// data files, what is bound, the options.
  Result<Hash128> identity(const ModelDescription &model);

  /// Of the program for `request.shapes` and, where these feed shapes or the
  /// request is for them, `request.values`.
  Result<Hash128> staticProgram(const ModelDescription &model,
                                const CompileRequest &request);

  /// Of the program for all sizes of what is dynamic in `request.dynamic`. \p
  /// others: how many such programs there are for other branches.
  Result<Hash128> dynamicProgram(const ModelDescription &model,
                                 const CompileRequest &request, size_t others);

  /// How often the contents of a file were hashed.
  size_t hashings() const { return hashedFiles; }

private:
  /// What a file's contents are known to be the same by.
  struct Stamp {
    uint64_t device = 0, inode = 0;
    int64_t bytes = 0, modified = 0, changed = 0; ///< times in nanoseconds
    bool operator==(const Stamp &) const = default;
  };
  struct HashedFile {
    Stamp stamp;
    Hash128 hash;
  };
  static std::optional<Stamp> stampOf(const std::string &file);

  Result<void> addFile(ProgramKey &key, const std::string &file);
  Result<void> addModel(ProgramKey &key, const std::string &path);
  Result<void> addRequest(ProgramKey &key);
  Result<void> addDataFiles(ProgramKey &key, const ModelDescription &model);
  Result<void> addProgram(ProgramKey &key, const ModelDescription &model,
                          const CompileRequest &request);

  std::string path;
  const SessionOptions &options;
  std::optional<Hash128> modelHash;
  std::map<std::string, HashedFile> hashed;
  size_t hashedFiles = 0;
};

} // namespace sinter

#endif // SINTER_ENGINE_PROGRAMKEYS_H
