//===- MemoryFiles.cpp - files that are in memory -------------------------===//

#include "runtime/MemoryFiles.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <map>
#include <mutex>

namespace sinter {

struct MemoryFolder::State {
  uint64_t number = 0;
  std::string prefix;
  std::mutex mutex;
  std::map<std::string, FileInMemory> files;
};

namespace {

constexpr std::string_view scheme = "memory:";

/// The folders that live, by their numbers.
struct Registry {
  std::mutex mutex;
  std::map<uint64_t, std::shared_ptr<MemoryFolder::State>> folders;
  uint64_t last = 0;
};

Registry &registry() {
  // Never destroyed: threads may still read at the end of the process.
  static Registry &all = *new Registry;
  return all;
}

/// How many folders live, so that paths of files on disk cost nothing.
std::atomic<size_t> folderCount = 0;

struct Located {
  std::shared_ptr<MemoryFolder::State> folder;
  std::string name;
};

/// The folder in memory that \p path is in, and the file's name.
std::optional<Located> locate(const std::string &path) {
  if (folderCount.load(std::memory_order_acquire) == 0)
    return std::nullopt;
  const size_t begin = path.rfind(scheme);
  if (begin == std::string::npos)
    return std::nullopt;
  uint64_t number = 0;
  const char *end = path.data() + path.size();
  const auto [rest, failed] =
      std::from_chars(path.data() + begin + scheme.size(), end, number);
  if (failed != std::errc())
    return std::nullopt;
  Registry &all = registry();
  const std::lock_guard lock(all.mutex);
  const auto found = all.folders.find(number);
  if (found == all.folders.end() || !path.starts_with(found->second->prefix))
    return std::nullopt;
  return Located{found->second, path.substr(found->second->prefix.size())};
}

} // namespace

MemoryFolder::MemoryFolder(const std::string &base)
    : state(std::make_shared<State>()) {
  Registry &all = registry();
  const std::lock_guard lock(all.mutex);
  state->number = ++all.last;
  // What a file refers to is looked up in the folder of its path: in `base`, or
  // in one that does not exist.
  const std::string own = std::string(scheme) + std::to_string(state->number);
  state->prefix = base.empty() ? own + "/" : base + "/" + own + ":";
  all.folders.emplace(state->number, state);
  ++folderCount;
}

MemoryFolder::~MemoryFolder() {
  Registry &all = registry();
  const std::lock_guard lock(all.mutex);
  all.folders.erase(state->number);
  --folderCount;
}

std::string MemoryFolder::path(const std::string &name) const {
  std::string flat = name;
  std::ranges::replace(flat, '/', '_');
  return state->prefix + flat;
}

void MemoryFolder::add(const std::string &name,
                       std::span<const std::byte> bytes,
                       std::shared_ptr<const void> owner) {
  const std::string flat = path(name).substr(state->prefix.size());
  const std::lock_guard lock(state->mutex);
  state->files[flat] = {flat, bytes, std::move(owner)};
}

std::vector<FileInMemory> MemoryFolder::files() const {
  const std::lock_guard lock(state->mutex);
  std::vector<FileInMemory> all;
  for (const auto &[name, file] : state->files)
    all.push_back(file);
  return all;
}

bool isInMemory(const std::string &path) { return locate(path).has_value(); }

std::optional<FileInMemory> memoryFileAt(const std::string &path) {
  const std::optional<Located> where = locate(path);
  if (!where)
    return std::nullopt;
  const std::lock_guard lock(where->folder->mutex);
  const auto found = where->folder->files.find(where->name);
  if (found == where->folder->files.end())
    return std::nullopt;
  return found->second;
}

bool writeMemoryFile(const std::string &path,
                     std::span<const std::span<const std::byte>> chunks) {
  const std::optional<Located> where = locate(path);
  if (!where)
    return false;
  size_t size = 0;
  for (const auto &chunk : chunks)
    size += chunk.size();
  auto bytes = std::make_shared<std::vector<std::byte>>();
  bytes->reserve(size);
  for (const auto &chunk : chunks)
    bytes->insert(bytes->end(), chunk.begin(), chunk.end());
  const std::lock_guard lock(where->folder->mutex);
  where->folder->files[where->name] = {where->name, *bytes, bytes};
  return true;
}

} // namespace sinter
