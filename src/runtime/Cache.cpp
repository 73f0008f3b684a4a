//===- Cache.cpp - finished programs, kept from run to run ----------------===//

#include "runtime/Cache.h"
#include "runtime/CpuFeatures.h"
#include "runtime/ProgramFile.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>

namespace sinter {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view extension = ".sinter";

struct Entry {
  fs::path path;
  uint64_t bytes;
  fs::file_time_type lastUse;
};

/// How long a temporary file may lie around before it must be the leftover of a
/// process that was killed.
constexpr std::chrono::hours leftoverAge{24};

std::vector<Entry> entriesOf(const fs::path &folder) {
  std::vector<Entry> entries;
  std::error_code failed;
  for (fs::directory_iterator file(folder, failed), end; !failed && file != end;
       file.increment(failed)) {
    // Files of others are none of our business, nor are those that vanish.
    const std::string filename = file->path().filename().string();
    const size_t suffix = filename.find(extension);
    std::error_code gone;
    Entry entry{file->path(), file->file_size(gone),
                file->last_write_time(gone)};
    if (suffix == std::string::npos || gone)
      continue;
    if (suffix + extension.size() == filename.size())
      entries.push_back(std::move(entry));
    else if (fs::file_time_type::clock::now() - entry.lastUse > leftoverAge)
      fs::remove(entry.path, gone);
  }
  return entries;
}

} // namespace

std::string defaultCacheFolder() {
  const auto absolute = [](const char *variable) -> std::string {
    const char *value = std::getenv(variable);
    return value && value[0] == '/' ? value : "";
  };
  if (std::string base = absolute("XDG_CACHE_HOME"); !base.empty())
    return base + "/sinter";
  if (std::string home = absolute("HOME"); !home.empty())
    return home + "/.cache/sinter";
  return "";
}

void makeCacheFolder(const std::string &folder) {
  std::error_code failed;
  const fs::path parent = fs::path(folder).parent_path();
  if (!parent.empty())
    fs::create_directories(parent, failed);
  // Private: the entries contain other people's models and code that is run.
  ::mkdir(folder.c_str(), 0700);
}

ProgramKey::ProgramKey() {
  hasher.add(SINTER_VERSION).add(hostArchitecture());
  for (const std::string &feature : hostCpuFeatures())
    hasher.add(feature);
}

ProgramKey &ProgramKey::addFile(std::span<const std::byte> contents) {
  hasher.add("file").add(contents);
  return *this;
}

ProgramKey &ProgramKey::addOptions(std::string_view text) {
  hasher.add("options").add(text);
  return *this;
}

ProgramCache::ProgramCache(std::string folder, Warn warn, uint64_t limit)
    : name(std::move(folder)), warn(std::move(warn)), limit(limit) {}

std::string ProgramCache::entryPath(const Hash128 &key) const {
  return name + "/" + key.text() + std::string(extension);
}

std::shared_ptr<const Program> ProgramCache::lookup(const Hash128 &key) {
  std::error_code ignored;
  const std::string path = entryPath(key);
  if (name.empty() || !fs::exists(path, ignored))
    return nullptr;
  Result<std::shared_ptr<const Program>> program = loadProgram(path);
  if (!program) {
    warnOnce("the cached program is compiled anew: " + program.error().message);
    fs::remove(path, ignored);
    return nullptr;
  }
  // The time of last use decides who has to go.
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  return *program;
}

void ProgramCache::store(const Hash128 &key, const Program &program) {
  if (name.empty() || program.isOfProcess)
    return;
  makeCacheFolder(name);
  if (Result<void> saved = saveProgram(program, entryPath(key)); !saved)
    return warnOnce("compiled programs are not kept: " + saved.error().message);
  trim();
}

void ProgramCache::trim() {
  std::vector<Entry> entries = entriesOf(name);
  std::ranges::sort(entries, std::greater(), &Entry::lastUse);
  uint64_t total = 0;
  for (const Entry &entry : entries) {
    total += entry.bytes;
    std::error_code ignored;
    if (total > limit)
      fs::remove(entry.path, ignored);
  }
}

void ProgramCache::warnOnce(const std::string &message) {
  if (warn)
    std::call_once(warned, warn, message);
}

} // namespace sinter
