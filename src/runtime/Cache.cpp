//===- Cache.cpp - compiled programs stored between runs ------------------===//

#include "runtime/Cache.h"
#include "runtime/CpuFeatures.h"
#include "runtime/ProgramFile.h"
#include "runtime/TemporaryFiles.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace sinter {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view extension = ".sinter";

struct CacheEntry {
  fs::path path;
  uint64_t bytes;
  fs::file_time_type lastUse;
};

std::vector<CacheEntry> entriesOf(const fs::path &folder) {
  std::vector<CacheEntry> entries;
  std::error_code failed;
  for (fs::directory_iterator file(folder, failed), end; !failed && file != end;
       file.increment(failed)) {
    // Skip other files, and files that vanish.
    const std::string filename = file->path().filename().string();
    std::error_code gone;
    CacheEntry entry{file->path(), file->file_size(gone),
                     file->last_write_time(gone)};
    if (filename.ends_with(extension) && !gone)
      entries.push_back(std::move(entry));
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
  // Private: the entries contain models and executable code.
  ::mkdir(folder.c_str(), 0700);
}

/// Why others may write to a file or folder; nothing if only this user (or, as
/// \p allows, the system's) may.
static std::string problemOf(const struct stat &status, bool allowsRoot) {
  if (status.st_uid != ::geteuid() && !(allowsRoot && status.st_uid == 0))
    return "belongs to another user";
  if (status.st_mode & (S_IWGRP | S_IWOTH))
    return "can be written to by other users";
  return "";
}

Result<void> checkCacheFolder(const std::string &folder) {
  struct stat status;
  if (::stat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    return {};
  if (status.st_mode & S_ISVTX)
    status.st_mode &= ~(S_IWGRP | S_IWOTH);
  const std::string problem = problemOf(status, /*allowsRoot=*/true);
  if (problem.empty())
    return {};
  return systemError("the cache's folder '" + folder + "' " + problem);
}

Result<std::shared_ptr<const MappedFile>> openEntry(const std::string &path) {
  const int file =
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  if (file < 0 && (errno == ENOENT || errno == ENOTDIR))
    return std::shared_ptr<const MappedFile>();
  if (file < 0)
    return fileError("open", path, errno);
  struct stat status = {};
  std::string problem = "is not a regular file";
  if (::fstat(file, &status) == 0 && S_ISREG(status.st_mode))
    problem = problemOf(status, /*allowsRoot=*/false);
  Result<void> folder = checkCacheFolder(fs::path(path).parent_path().string());
  if (problem.empty() && folder)
    return MappedFile::fromDescriptor(file, path);
  ::close(file);
  return folder ? systemError("'" + path + "' " + problem) : folder.takeError();
}

/// A line with the hash of the text that follows.
static std::string headOf(const std::string &text) {
  return hashOf(std::as_bytes(std::span(text.data(), text.size()))).text() +
         "\n";
}

Result<void> writeTextEntry(const std::string &path, const std::string &text) {
  return writeFileAtomically(path, headOf(text) + text, Access::OwnerOnly);
}

Result<std::optional<std::string>> readTextEntry(const std::string &path) {
  Result<std::shared_ptr<const MappedFile>> file = openEntry(path);
  if (file && !*file)
    return std::optional<std::string>();
  if (file) {
    const std::string_view whole = (*file)->text();
    const std::string text(
        whole.substr(std::min(whole.size(), headOf("").size())));
    if (whole == headOf(text) + text)
      return std::optional(text);
  }
  std::error_code ignored;
  fs::remove(path, ignored);
  if (file)
    return systemError("'" + path + "' is damaged: its checksum is wrong");
  return file.takeError();
}

ProgramKey::ProgramKey(Machine machine) {
  hasher.add(SINTER_VERSION);
  if (machine == Machine::Any)
    return;
  hasher.add(hostArchitecture());
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
  if (name.empty())
    return nullptr;
  const std::string path = entryPath(key);
  Result<std::shared_ptr<const MappedFile>> file = openEntry(path);
  if (file && !*file)
    return nullptr;
  Result<std::shared_ptr<const Program>> program =
      file ? loadProgram(*file)
           : Result<std::shared_ptr<const Program>>(file.takeError());
  if (!program) {
    warnOnce("the cached program is compiled anew: " +
             program.error().message());
    std::error_code ignored;
    fs::remove(path, ignored);
    return nullptr;
  }
  // Entries are removed by time of last use.
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  return *program;
}

void ProgramCache::store(const Hash128 &key, const Program &program) {
  if (name.empty() || program.isOfProcess)
    return;
  makeCacheFolder(name);
  if (Result<void> own = checkCacheFolder(name); !own)
    return warnOnce("compiled programs are not cached: " +
                    own.error().message());
  if (Result<void> saved = saveProgram(program, entryPath(key)); !saved)
    return warnOnce("compiled programs are not cached: " +
                    saved.error().message());
  trim();
}

void ProgramCache::trim() {
  removeLeftovers(name);
  std::vector<CacheEntry> entries = entriesOf(name);
  std::ranges::sort(entries, std::greater(), &CacheEntry::lastUse);
  uint64_t total = 0;
  for (const CacheEntry &entry : entries) {
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
