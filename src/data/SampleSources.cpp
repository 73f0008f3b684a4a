#include "data/SampleSources.h"

#include "runtime/MappedFile.h"
#include "runtime/Npy.h"
#include "runtime/Text.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <glob.h>

namespace sinter {

namespace fs = std::filesystem;

SampleSourceKind kindOfSource(const std::string &source) {
  std::error_code ignored;
  if (source == "-")
    return SampleSourceKind::StandardInput;
  if (fs::is_directory(source, ignored))
    return SampleSourceKind::Folder;
  if (fs::exists(source, ignored))
    return source.ends_with(".txt") ? SampleSourceKind::List
                                    : SampleSourceKind::File;
  if (source.starts_with("@") || source.ends_with(".txt"))
    return SampleSourceKind::List;
  return source.find_first_of("*?[") != std::string::npos
             ? SampleSourceKind::Pattern
             : SampleSourceKind::File;
}

std::string extensionOf(const std::string &path) {
  std::string extension = std::filesystem::path(path).extension().string();
  std::ranges::transform(extension, extension.begin(), [](unsigned char each) {
    return static_cast<char>(std::tolower(each));
  });
  return extension;
}

std::vector<ListedSample> listedSamples(const std::string &text) {
  std::vector<ListedSample> samples;
  for (std::string &line : partsOf(text, '\n')) {
    while (line.ends_with('\r') || line.ends_with(' '))
      line.pop_back();
    if (line.empty() || line[0] == '#')
      continue;
    ListedSample sample{partsOf(line, '\t')};
    std::erase(sample.fields, "");
    if (!sample.fields.empty())
      samples.push_back(std::move(sample));
  }
  return samples;
}

std::string listedPath(const std::string &path, const std::string &folder) {
  std::error_code ignored;
  if (folder.empty() || fs::path(path).is_absolute() ||
      fs::exists(path, ignored))
    return path;
  const fs::path beside = fs::path(folder) / path;
  return fs::exists(beside, ignored) ? beside.string() : path;
}

Result<std::vector<std::string>> filesMatching(const std::string &what,
                                               const std::string &source) {
  glob_t found{};
  const int failed = ::glob(source.c_str(), 0, nullptr, &found);
  std::vector<std::string> paths(found.gl_pathv,
                                 found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (failed == GLOB_NOMATCH)
    return usageError(what + ": no file matches '" + source + "'");
  if (failed != 0)
    return systemError(what + ": cannot look for files that match '" + source +
                       "'");
  std::ranges::sort(paths);
  return paths;
}

//===----------------------------------------------------------------------===//
// A pipe
//===----------------------------------------------------------------------===//

Result<bool> SampleStream::holdsArrays() {
  constexpr std::string_view magic = "\x93NUMPY";
  Result<bool> isThere = reader.fill(magic.size());
  if (!isThere)
    return isThere;
  return *isThere &&
         std::memcmp(reader.ahead().data(), magic.data(), magic.size()) == 0;
}

Result<std::optional<std::string>> SampleStream::line() {
  constexpr size_t longest = size_t(1) << 20;
  for (size_t looked = 0;;) {
    const std::span<const std::byte> ahead = reader.ahead();
    const auto end = std::find(ahead.begin() + static_cast<long>(looked),
                               ahead.end(), std::byte('\n'));
    const auto length = static_cast<size_t>(end - ahead.begin());
    const bool isWhole = end != ahead.end();
    if (isWhole || (reader.isAtEnd() && length > 0)) {
      std::string text(reinterpret_cast<const char *>(ahead.data()), length);
      reader.take(length + (isWhole ? 1 : 0));
      ++count;
      return std::optional(std::move(text));
    }
    if (reader.isAtEnd())
      return std::optional<std::string>();
    if (length > longest)
      return usageError("'" + reader.nameText() + "': line " +
                        std::to_string(count + 1) +
                        " is longer than a megabyte");
    looked = length;
    if (Result<bool> more = reader.fill(length + 1); !more)
      return more.takeError();
  }
}

Result<std::optional<Tensor>> SampleStream::array() {
  const std::string what =
      reader.nameText() + ": array " + std::to_string(count);
  for (size_t wanted = 1;; wanted = reader.ahead().size() + 1) {
    Result<bool> isThere = reader.fill(wanted);
    if (!isThere)
      return isThere.takeError();
    if (!*isThere && reader.ahead().empty())
      return std::optional<Tensor>();
    Result<std::optional<uint64_t>> size = npySize(reader.ahead(), what);
    if (!size)
      return size.takeError();
    if (!*size && *isThere)
      continue;
    if (*size) {
      Result<bool> whole = reader.fill(**size);
      if (!whole)
        return whole.takeError();
      if (*whole) {
        const auto from = reader.ahead().first(**size);
        auto bytes =
            std::make_shared<std::vector<std::byte>>(from.begin(), from.end());
        reader.take(**size);
        ++count;
        Result<Tensor> array = parseNpy(*bytes, bytes, what);
        if (!array)
          return array.takeError();
        return std::optional(std::move(*array));
      }
    }
    return systemError("'" + what + "' is cut short");
  }
}

} // namespace sinter
