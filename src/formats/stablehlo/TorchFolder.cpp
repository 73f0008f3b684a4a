//===- TorchFolder.cpp - program folders of PyTorch/XLA -------------------===//

#include "formats/stablehlo/TorchFolder.h"

#include "formats/stablehlo/StablehloReader.h"
#include "graph/Constants.h"
#include "graph/Types.h"
#include "mlir/IR/Builders.h"
#include "runtime/MappedFile.h"
#include "runtime/Npy.h"

#include <filesystem>
#include <nlohmann/json.hpp>

using namespace mlir;
using nlohmann::json;

namespace sinter {
namespace fs = std::filesystem;
namespace {

/// Where an argument of the function comes from.
struct Source {
  enum Kind { Input, Parameter, Constant } kind = Input;
  /// The name of a parameter.
  std::string name;
  /// The index of an input or a constant.
  int64_t position = 0;
};

/// The names of the functions that the folder describes, sorted.
std::vector<std::string> functionsOf(const std::string &path) {
  std::vector<std::string> names;
  std::error_code failed;
  for (const auto &entry :
       fs::directory_iterator(fs::path(path) / "functions", failed))
    if (entry.path().extension() == ".meta")
      names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// Whether \p name is a plain file name, which cannot leave the folder.
bool isFileName(const std::string &name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

std::optional<Source> sourceOf(const json &location) {
  if (!location.is_object())
    return std::nullopt;
  const auto type = location.find("type_"), name = location.find("name"),
             position = location.find("position");
  if (type == location.end() || !type->is_string())
    return std::nullopt;
  Source source;
  if (*type == "parameter") {
    if (name == location.end() || !name->is_string())
      return std::nullopt;
    source.kind = Source::Parameter;
    source.name = name->get<std::string>();
    return isFileName(source.name) ? std::optional(source) : std::nullopt;
  }
  if (*type != "input_arg" && *type != "constant")
    return std::nullopt;
  if (position == location.end() || !position->is_number_integer() ||
      position->get<int64_t>() < 0)
    return std::nullopt;
  source.kind = *type == "constant" ? Source::Constant : Source::Input;
  source.position = position->get<int64_t>();
  return source;
}

/// Reads the sources of the arguments from the .meta file.
Result<std::vector<Source>> sourcesIn(const std::string &path) {
  constexpr size_t largest = size_t(1) << 28;
  Result<std::string> text = readFile(path, largest);
  if (!text)
    return text.takeError();
  const json meta = json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!meta.is_object() || !meta.contains("input_locations") ||
      !meta["input_locations"].is_array())
    return inFile(invalidModel("this is no JSON with 'input_locations'"), path);
  std::vector<Source> sources;
  for (const json &location : meta["input_locations"]) {
    std::optional<Source> source = sourceOf(location);
    if (!source)
      return inFile(invalidModel("input_locations[" +
                                 std::to_string(sources.size()) +
                                 "] is no input_arg, parameter or constant"),
                    path);
    sources.push_back(std::move(*source));
  }
  return sources;
}

/// The array for an argument of \p type.
Result<Tensor> valueOf(const fs::path &folder, const Source &source,
                       Type type) {
  const std::string path =
      source.kind == Source::Parameter
          ? (folder / "data" / source.name).string()
          : (folder / "constants" / std::to_string(source.position)).string();
  std::error_code failed;
  if (fs::is_symlink(path, failed))
    return inFile(invalidModel("this is a link, not a file of the folder"),
                  path);
  Result<Tensor> tensor = readNpy(path);
  // A file that exists but is damaged makes the model invalid.
  if (!tensor && fs::exists(path, failed))
    return invalidModel(tensor.error().message());
  if (!tensor)
    return tensor;
  const RankedTensorType has =
      tensorTypeOf(tensor->type(), tensor->shape(), type.getContext());
  if (has == type)
    return tensor;
  std::string text;
  llvm::raw_string_ostream(text)
      << path << ": this is " << has << ", and the program wants " << type;
  return invalidModel(text);
}

/// Replaces arguments by constants.
Result<void> bindWeights(func::FuncOp entry, const std::vector<Source> &sources,
                         const fs::path &folder) {
  std::error_code failed;
  const bool hasData = fs::is_directory(folder / "data", failed);
  OpBuilder builder = OpBuilder::atBlockBegin(&entry.front());
  llvm::BitVector bound(entry.getNumArguments());
  for (auto [index, source] : llvm::enumerate(sources)) {
    const bool isInput = source.kind == Source::Input;
    // Weights that were not saved can be bound by their names.
    if (isInput || (source.kind == Source::Parameter && !hasData)) {
      const std::string name =
          isInput ? "arg" + std::to_string(source.position) : source.name;
      entry.setArgAttr(index, nameAttribute, builder.getStringAttr(name));
      continue;
    }
    BlockArgument argument = entry.getArgument(index);
    Result<Tensor> value = valueOf(folder, source, argument.getType());
    if (!value)
      return value.takeError();
    const std::string name =
        source.kind == Source::Parameter
            ? source.name
            : "constant_" + std::to_string(source.position);
    argument.replaceAllUsesWith(
        makeConstant(builder, argument.getLoc(), *value, name));
    bound.set(index);
  }
  entry.eraseArguments(bound);
  return {};
}

} // namespace

bool isTorchFolder(const std::string &path) {
  return !functionsOf(path).empty();
}

Result<Model> readTorchFolder(const std::string &path) {
  const std::vector<std::string> names = functionsOf(path);
  if (names.empty())
    return inFile(invalidModel("the folder holds no functions/*.meta"), path);
  const std::string name =
      llvm::is_contained(names, "forward") ? "forward" : names.front();
  const std::string stem = (fs::path(path) / "functions" / name).string();
  Result<std::vector<Source>> sources = sourcesIn(stem + ".meta");
  if (!sources)
    return sources.takeError();
  std::error_code failed;
  const bool hasArtifact = fs::exists(stem + ".bytecode", failed);
  Result<Model> model =
      readStablehlo(stem + (hasArtifact ? ".bytecode" : ".mlir"));
  if (!model)
    return model;
  func::FuncOp entry = model->entry();
  if (!entry)
    return inFile(invalidModel(whyNoEntry(model->module())), model->path);
  if (entry.getNumArguments() != sources->size())
    return invalidModel(
        stem + ".meta: there are " + std::to_string(sources->size()) +
        " input_locations for " + std::to_string(entry.getNumArguments()) +
        " arguments of the program");
  if (Result<void> done = bindWeights(entry, *sources, path); !done)
    return done.takeError();
  model->path = path;
  return model;
}

} // namespace sinter
