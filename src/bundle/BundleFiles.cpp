#include "bundle/BundleFiles.h"

#include "bundle/ExampleText.h"
#include "bundle/HeaderText.h"
#include "bundle/JsonText.h"
#include "bundle/WeightsText.h"
#include "runtime/MappedFile.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <span>

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

/// Files of folders that have names of their own.
constexpr std::array<const char *, 2> ownNames = {"main.c", "CMakeLists.txt"};

constexpr const char *listingSuffix = ".steps";

/// The path of a file of the bundle \p name. \p suffix is what its name ends
/// with, or one of ownNames.
std::string pathOf(const BundleTarget &target, const std::string &name,
                   const std::string &suffix) {
  if (!target.isFolder)
    return target.path + suffix;
  const bool isOwn = std::ranges::find(ownNames, suffix) != ownNames.end();
  return (std::filesystem::path(target.path) / (isOwn ? suffix : name + suffix))
      .string();
}

/// The suffixes of the files at \p target, as pathOf() takes them.
std::vector<std::string> suffixesOf(const BundleTarget &target,
                                    BundleWeights weights,
                                    std::span<const BundleCode> also,
                                    bool hasListing) {
  std::vector<std::string> suffixes = {suffixOf(target.code)};
  for (const BundleCode form : also)
    suffixes.emplace_back(suffixOf(form));
  if (const char *suffix = weightsSuffix(weights))
    suffixes.emplace_back(suffix);
  suffixes.emplace_back(".h");
  if (hasListing)
    suffixes.emplace_back(listingSuffix);
  if (target.isFolder) {
    suffixes.emplace_back(".json");
    suffixes.insert(suffixes.end(), ownNames.begin(), ownNames.end());
  }
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

const char *weightsSuffix(BundleWeights weights) {
  switch (weights) {
  case BundleWeights::InCode:
    break;
  case BundleWeights::InFile:
    return ".weights";
  case BundleWeights::InArray:
    return "_weights.c";
  }
  return nullptr;
}

std::vector<std::string> bundlePaths(const BundleTarget &target,
                                     const BundleOptions &options) {
  std::vector<std::string> paths;
  for (const std::string &suffix : suffixesOf(
           target, options.weights, options.also, !options.listing.empty()))
    paths.push_back(pathOf(target, options.name, suffix));
  return paths;
}

std::string listingPath(const BundleTarget &target, const std::string &name) {
  const std::filesystem::path path = pathOf(target, name, listingSuffix);
  std::error_code ignored;
  const std::filesystem::path whole = std::filesystem::absolute(path, ignored);
  return (whole.empty() ? path : whole).lexically_normal().string();
}

Result<void> writeBundle(const Bundle &bundle, const BundleTarget &target,
                         const std::string &model) {
  using Bytes = std::span<const std::byte>;
  const auto bytesOf = [](const auto &content) -> Bytes {
    return std::as_bytes(std::span(content));
  };
  const std::string header = headerText(bundle, model),
                    json = jsonText(bundle, model),
                    example = exampleText(bundle), cmake = cmakeText(bundle);
  std::map<std::string, Bytes> contents = {
      {suffixOf(bundle.form), bytesOf(bundle.code)},
      {".h", bytesOf(header)},
      {listingSuffix, bytesOf(bundle.listing)},
      {".json", bytesOf(json)},
      {"main.c", bytesOf(example)},
      {"CMakeLists.txt", bytesOf(cmake)}};
  std::string array;
  if (bundle.weightsIn == BundleWeights::InArray)
    array = weightsText(bundle);
  if (const char *suffix = weightsSuffix(bundle.weightsIn))
    contents[suffix] = array.empty() ? bytesOf(bundle.weights) : bytesOf(array);
  std::vector<BundleCode> also;
  for (const BundleText &text : bundle.also) {
    contents[suffixOf(text.form)] = bytesOf(text.bytes);
    also.push_back(text.form);
  }
  std::vector<FileContents> files;
  for (const std::string &suffix :
       suffixesOf(target, bundle.weightsIn, also, !bundle.listing.empty()))
    files.push_back(
        {pathOf(target, bundle.name, suffix), {contents.at(suffix)}});
  return writeFilesAtomically(files);
}

} // namespace sinter
