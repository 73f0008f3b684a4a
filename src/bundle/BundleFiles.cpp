#include "bundle/BundleFiles.h"

#include "bundle/ExampleText.h"
#include "bundle/HeaderText.h"
#include "bundle/JsonText.h"
#include "runtime/MappedFile.h"

#include <array>
#include <filesystem>

namespace sinter {

namespace {

struct CodeSuffix {
  const char *suffix;
  BundleCode code;
};
constexpr std::array<CodeSuffix, 5> codeSuffixes = {
    {{".o", BundleCode::Object},
     {".a", BundleCode::Archive},
     {".so", BundleCode::SharedLibrary},
     {".s", BundleCode::Assembly},
     {".ll", BundleCode::LlvmIr}}};

const char *suffixOf(BundleCode code) {
  for (const CodeSuffix &each : codeSuffixes)
    if (each.code == code)
      return each.suffix;
  return "";
}

/// The path of a file of the bundle \p name; \p suffix is "main.c" for one
/// with a name of its own, which are in folders only.
std::string pathOf(const BundleTarget &target, const std::string &name,
                   const std::string &suffix) {
  if (!target.isFolder)
    return target.path + suffix;
  const std::string file = suffix.starts_with('.') ? name + suffix : suffix;
  return (std::filesystem::path(target.path) / file).string();
}

/// The suffixes of the files at \p target, as pathOf() takes them.
std::vector<std::string> suffixesOf(const BundleTarget &target,
                                    BundleWeights weights) {
  std::vector<std::string> suffixes = {suffixOf(target.code)};
  if (weights == BundleWeights::InFile)
    suffixes.emplace_back(weightsSuffix);
  suffixes.emplace_back(".h");
  if (target.isFolder)
    for (const char *suffix : {".json", "main.c", "CMakeLists.txt"})
      suffixes.emplace_back(suffix);
  return suffixes;
}

} // namespace

Result<BundleTarget> bundleTarget(const std::string &output) {
  const std::filesystem::path path(output);
  const std::string suffix = path.extension().string();
  if (suffix.empty() || !path.has_filename()) {
    std::string folder = output;
    while (folder.size() > 1 && folder.ends_with('/'))
      folder.pop_back();
    return BundleTarget{BundleCode::Object, true, folder};
  }
  for (const CodeSuffix &each : codeSuffixes)
    if (suffix == each.suffix)
      return BundleTarget{each.code, false,
                          output.substr(0, output.size() - suffix.size())};
  return usageError("'" + output +
                    "' is no form of code: .o, .a, .so, .s, .ll, or a folder, "
                    "which has no extension");
}

std::vector<std::string> bundlePaths(const BundleTarget &target,
                                     const std::string &name,
                                     BundleWeights weights) {
  std::vector<std::string> paths;
  for (const std::string &suffix : suffixesOf(target, weights))
    paths.push_back(pathOf(target, name, suffix));
  return paths;
}

Result<void> writeBundle(const Bundle &bundle, const BundleTarget &target,
                         const std::string &model) {
  const std::string header = headerText(bundle, model),
                    json = jsonText(bundle, model),
                    example = exampleText(bundle), cmake = cmakeText(bundle);
  const auto contentOf = [&](const std::string &suffix) {
    if (suffix == ".h")
      return std::as_bytes(std::span(header));
    if (suffix == ".json")
      return std::as_bytes(std::span(json));
    if (suffix == "main.c")
      return std::as_bytes(std::span(example));
    if (suffix == "CMakeLists.txt")
      return std::as_bytes(std::span(cmake));
    return std::as_bytes(
        std::span(suffix == weightsSuffix ? bundle.weights : bundle.code));
  };
  std::vector<FileContents> files;
  for (const std::string &suffix : suffixesOf(target, bundle.weightsIn))
    files.push_back({pathOf(target, bundle.name, suffix), {contentOf(suffix)}});
  return writeFilesAtomically(files);
}

} // namespace sinter
