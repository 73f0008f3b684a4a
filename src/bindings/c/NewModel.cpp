//===- NewModel.cpp - a model that the compiler writes to memory ----------===//

#include "bindings/c/NewModel.h"

#include "engine/CompilerLibrary.h"

#include <filesystem>

namespace sinter::c {

Result<NewModel> NewModel::like(const std::string &source,
                                const std::string &format) {
  Result<Compiler *> compiler = loadCompiler();
  if (!compiler)
    return compiler.takeError();
  const std::filesystem::path path(source);
  for (const FormatDescription &each : (*compiler)->formats()) {
    const bool isIt =
        format.empty() ? source.ends_with(each.suffix) : format == each.suffix;
    if (isIt && each.suffix != "/")
      return NewModel(path.stem().string() + each.suffix);
  }
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
  return openModel(path(), files, std::move(own));
}

} // namespace sinter::c
