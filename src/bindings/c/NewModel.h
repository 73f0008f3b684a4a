//===- NewModel.h - a model that the compiler writes to memory ------------===//

#ifndef SINTER_BINDINGS_C_NEWMODEL_H
#define SINTER_BINDINGS_C_NEWMODEL_H

#include "bindings/c/Model.h"

#include <memory>
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

} // namespace sinter::c

#endif // SINTER_BINDINGS_C_NEWMODEL_H
