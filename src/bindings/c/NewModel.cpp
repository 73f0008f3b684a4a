//===- NewModel.cpp - a model that the compiler writes to memory ----------===//

#include "bindings/c/NewModel.h"

#include "engine/CompilerLibrary.h"

#include <filesystem>

namespace sinter::c {

/// The extension of the format that \p path says, or else of that called
/// \p format; empty if there is none of one file.
static std::string extension(Compiler &compiler, const std::string &path,
                             const std::string &format = "") {
  for (const FormatDescription &each : compiler.formats()) {
    const bool isIt =
        format.empty() ? path.ends_with(each.suffix) : format == each.suffix;
    if (isIt && each.suffix != "/")
      return each.suffix;
  }
  return "";
}

Result<NewModel> NewModel::like(const std::string &source,
                                const std::string &format) {
  Result<Compiler *> compiler = loadCompiler();
  if (!compiler)
    return compiler.takeError();
  const std::filesystem::path path(source);
  if (std::string suffix = extension(**compiler, source, format);
      !suffix.empty())
    return NewModel(path.stem().string() + suffix);
  return withHint(
      "set the option 'format' to the extension of one, '.onnx' say",
      usageError(format.empty()
                     ? "the name '" + path.filename().string() +
                           "' does not say in which format the new model is"
                     : "there is no format '" + format +
                           "' of models in one file"));
}

Result<std::unique_ptr<sinter_model>>
NewModel::open(const Configuration &configuration) const {
  Configuration own = configuration;
  own.values.clear();
  Result<std::unique_ptr<sinter_model>> model =
      openModel(path(), files, std::move(own));
  if (model)
    (*model)->isWritten = true;
  return model;
}

Result<std::optional<FileInMemory>> writtenFile(const sinter_model &model,
                                                const std::string &path) {
  if (!model.isWritten || model.files->files().size() != 1)
    return std::optional<FileInMemory>();
  Result<Compiler *> compiler = loadCompiler();
  if (!compiler)
    return compiler.takeError();
  const std::string own = extension(**compiler, model.path);
  if (own.empty() || own != extension(**compiler, path))
    return std::optional<FileInMemory>();
  return std::optional(model.files->files().front());
}

} // namespace sinter::c
