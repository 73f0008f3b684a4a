#include "data/SampleSources.h"

#include "runtime/MappedFile.h"
#include "runtime/Npy.h"
#include "runtime/OutOfMemory.h"
#include "runtime/Text.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <glob.h>
#include <unistd.h>

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

/// Reads until \p wanted bytes are there that were not taken; false if the
/// pipe ends before.
Result<bool> SampleStream::fill(size_t wanted) {
  constexpr size_t piece = size_t(1) << 16;
  if (taken > 0 && (taken == buffer.size() || taken >= piece)) {
    buffer.erase(buffer.begin(), buffer.begin() + static_cast<long>(taken));
    taken = 0;
  }
  return catchingOutOfMemory("'" + name + "'", [&]() -> Result<bool> {
    while (!isAtEnd && buffer.size() - taken < wanted) {
      const size_t before = buffer.size();
      // A header may lie about its array, so that memory grows with what is
      // there.
      buffer.resize(before + std::max(piece, std::min(before, wanted)));
      ssize_t got = 0;
      do
        got =
            ::read(descriptor, buffer.data() + before, buffer.size() - before);
      while (got < 0 && errno == EINTR);
      buffer.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
      if (got < 0)
        return fileError("read", name, errno);
      isAtEnd = got == 0;
    }
    return buffer.size() - taken >= wanted;
  });
}

Result<bool> SampleStream::holdsArrays() {
  constexpr std::string_view magic = "\x93NUMPY";
  Result<bool> isThere = fill(magic.size());
  if (!isThere)
    return isThere;
  return *isThere &&
         std::memcmp(buffer.data() + taken, magic.data(), magic.size()) == 0;
}

Result<std::optional<std::string>> SampleStream::line() {
  constexpr size_t longest = size_t(1) << 20;
  for (size_t looked = 0;;) {
    const auto begin = buffer.begin() + static_cast<long>(taken);
    const auto end = std::find(begin + static_cast<long>(looked), buffer.end(),
                               std::byte('\n'));
    const auto length = static_cast<size_t>(end - begin);
    const bool isWhole = end != buffer.end();
    if (isWhole || (isAtEnd && length > 0)) {
      std::string text(reinterpret_cast<const char *>(buffer.data()) + taken,
                       length);
      taken += length + (isWhole ? 1 : 0);
      ++count;
      return std::optional(std::move(text));
    }
    if (isAtEnd)
      return std::optional<std::string>();
    if (length > longest)
      return usageError("'" + name + "': line " + std::to_string(count + 1) +
                        " is longer than a megabyte");
    looked = length;
    if (Result<bool> more = fill(length + 1); !more)
      return more.takeError();
  }
}

Result<std::optional<Tensor>> SampleStream::array() {
  const std::string what = name + ": array " + std::to_string(count);
  for (size_t wanted = 1;; wanted = buffer.size() - taken + 1) {
    Result<bool> isThere = fill(wanted);
    if (!isThere)
      return isThere.takeError();
    if (!*isThere && buffer.size() == taken)
      return std::optional<Tensor>();
    const std::span<const std::byte> rest = std::span(buffer).subspan(taken);
    Result<std::optional<uint64_t>> size = npySize(rest, what);
    if (!size)
      return size.takeError();
    if (!*size && *isThere)
      continue;
    if (*size) {
      Result<bool> whole = fill(**size);
      if (!whole)
        return whole.takeError();
      if (*whole) {
        auto bytes = std::make_shared<std::vector<std::byte>>(
            buffer.begin() + static_cast<long>(taken),
            buffer.begin() + static_cast<long>(taken + **size));
        taken += **size;
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
