//===- NewModel.h - a model that the compiler writes to memory ------------===//

#ifndef SINTER_BINDINGS_C_NEWMODEL_H
#define SINTER_BINDINGS_C_NEWMODEL_H

#include "bindings/c/Model.h"

#include <memory>
#include <optional>
#include <string>

namespace sinter::c {

class NewModel {
public:
  /// In the format of the model at \p source, unless \p format, an extension,
  /// names another. Usage error if the path does not say the format.
  static Result<NewModel> like(const std::string &source,
                               const std::string &format);

  /// Where the compiler writes it.
  std::string path() const { return files->path(name); }
  /// What was written, opened with the callbacks of \p configuration.
  Result<std::unique_ptr<sinter_model>>
  open(const Configuration &configuration) const;

private:
  explicit NewModel(std::string name)
      : files(std::make_shared<MemoryFolder>()), name(std::move(name)) {}

  std::shared_ptr<MemoryFolder> files;
  std::string name;
};

/// The file that is \p model, if the compiler wrote it, it refers to no other
/// file, and \p path is of its format.
Result<std::optional<FileInMemory>> writtenFile(const sinter_model &model,
                                                const std::string &path);

} // namespace sinter::c

#endif // SINTER_BINDINGS_C_NEWMODEL_H
