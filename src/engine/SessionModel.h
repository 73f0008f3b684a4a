//===- SessionModel.h - a session's model: what it asks for, and its graph ===//
//
// The description is known from the start, from the cache or from reading the
// model. The graph, which is the compiler's, is read when somebody needs it.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_ENGINE_SESSIONMODEL_H
#define SINTER_ENGINE_SESSIONMODEL_H

#include "engine/SessionOptions.h"

#include <memory>
#include <mutex>

namespace sinter {

class SessionModel {
public:
  SessionModel(std::string path, const SessionOptions &options)
      : file(std::move(path)), options(options) {}

  const std::string &path() const { return file; }

  /// What it was at the time of the call, after setDescription() or read().
  /// Lives as long as this. Any thread may call it.
  const ModelDescription &description() const;
  void setDescription(ModelDescription description);

  /// The compiler's model, which the first call reads. Errors: System where the
  /// compiler cannot be loaded; those of the model.
  Result<CompilerModel *> read();
  /// The same where it was read, else null.
  CompilerModel *graph() const { return source.get(); }
  /// Takes over what the compiler found out of the graph, which was read: which
  /// inputs feed shapes is known once it was compiled or interpreted.
  void updateDescription() { setDescription(source->description()); }

private:
  std::string file;
  const SessionOptions &options;
  std::unique_ptr<CompilerModel> source;
  mutable std::mutex describing;
  /// What it was at any time, the last one valid: callers may hold all.
  std::vector<std::shared_ptr<const ModelDescription>> descriptions;
};

} // namespace sinter

#endif // SINTER_ENGINE_SESSIONMODEL_H
