//===- Checkpoints.cpp - training that goes on where it was ended ---------===//

#include "driver/Checkpoints.h"

#include "driver/Text.h"
#include "runtime/MappedFile.h"
#include "runtime/Npy.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace sinter::driver {

namespace fs = std::filesystem;

static constexpr const char *prefix = "step-";
static constexpr const char *description = "checkpoint.json";
/// Behind the name of what is being written or taken away.
static constexpr const char *unfinished = ".part";

/// The checkpoints in \p folder, the oldest first.
static std::vector<fs::path> checkpointsIn(const std::string &folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::error_code ignored;
    if (name.starts_with(prefix) && !name.ends_with(unfinished) &&
        fs::exists(entry->path() / description, ignored))
      found.push_back(entry->path());
  }
  // Numbers have leading zeros.
  std::ranges::sort(found);
  return found;
}

static Error cannotWrite(const fs::path &path, const std::string &why) {
  return systemError("--checkpoint-dir: cannot write '" + path.string() +
                     "': " + why);
}

/// Fills the folder \p place.
static Result<void> fill(const fs::path &place, const Checkpoint &checkpoint) {
  nlohmann::json names = nlohmann::json::array();
  for (size_t i = 0; i < checkpoint.states.size(); ++i) {
    const auto &[name, tensor] = checkpoint.states[i];
    const fs::path file = place / (std::to_string(i) + ".npy");
    if (Result<void> written = writeNpy(file.string(), tensor); !written)
      return written;
    names.push_back(name);
  }
  std::ofstream stream(place / description);
  stream << nlohmann::json{{"steps", checkpoint.steps},
                           {"progress", checkpoint.progress},
                           {"settings", checkpoint.settings},
                           {"states", names}}
                .dump(1)
         << std::flush;
  if (!stream)
    return cannotWrite(place / description, "the disk may be full");
  return {};
}

static fs::path placeOf(const std::string &folder, uint64_t steps) {
  return fs::path(folder) /
         (prefix + text("%010llu", static_cast<unsigned long long>(steps)));
}

/// Takes away what a run left that was killed as it wrote or took away.
static void removeUnfinished(const std::string &folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with(prefix) && name.ends_with(unfinished))
      found.push_back(entry->path());
  }
  for (const fs::path &each : found)
    fs::remove_all(each, error);
}

/// Takes a checkpoint away, so that at no moment a part of it looks like one.
static void removeCheckpoint(const fs::path &place) {
  const fs::path old = place.string() + ".old" + unfinished;
  std::error_code error;
  fs::rename(place, old, error);
  fs::remove_all(old, error);
}

Result<void> writeCheckpoint(const std::string &folder,
                             const Checkpoint &checkpoint, size_t kept,
                             std::optional<uint64_t> best) {
  const fs::path place = placeOf(folder, checkpoint.steps),
                 part = place.string() + unfinished;
  std::error_code error;
  removeUnfinished(folder);
  fs::create_directories(part, error);
  if (error)
    return cannotWrite(part, error.message());
  if (Result<void> filled = fill(part, checkpoint); !filled) {
    fs::remove_all(part, error);
    return filled;
  }
  // One of the same step is of a run that went on from before it.
  removeCheckpoint(place);
  fs::rename(part, place, error);
  if (error)
    return cannotWrite(place, error.message());
  std::vector<fs::path> all = checkpointsIn(folder);
  for (size_t i = 0; i + kept < all.size(); ++i)
    if (!best || all[i] != placeOf(folder, *best))
      removeCheckpoint(all[i]);
  return {};
}

static Result<Checkpoint> readCheckpoint(const fs::path &place) {
  constexpr size_t mostBytes = size_t(1) << 28;
  const std::string path = (place / description).string();
  Result<std::string> content = readFile(path, mostBytes);
  if (!content)
    return content.takeError();
  const nlohmann::json json =
      nlohmann::json::parse(*content, nullptr, /*allow_exceptions=*/false);
  const auto broken = [&] {
    return invalidModel(path + ": this is no checkpoint of `sinter train`");
  };
  if (!json.is_object() || !json.contains("steps") ||
      !json["steps"].is_number_unsigned() || !json.contains("states") ||
      !json["states"].is_array() || !json.contains("settings") ||
      !json["settings"].is_object() || !json.contains("progress") ||
      !json["progress"].is_object())
    return broken();
  Checkpoint checkpoint;
  checkpoint.steps = json["steps"].get<uint64_t>();
  checkpoint.progress = json["progress"];
  checkpoint.settings = json["settings"];
  for (size_t i = 0; i < json["states"].size(); ++i) {
    if (!json["states"][i].is_string())
      return broken();
    Result<Tensor> tensor =
        readNpy((place / (std::to_string(i) + ".npy")).string());
    if (!tensor)
      return tensor.takeError();
    checkpoint.states.emplace_back(json["states"][i].get<std::string>(),
                                   std::move(*tensor));
  }
  return checkpoint;
}

Result<std::optional<Checkpoint>> newestCheckpoint(const std::string &folder) {
  const std::vector<fs::path> all = checkpointsIn(folder);
  if (all.empty())
    return std::optional<Checkpoint>();
  Result<Checkpoint> read = readCheckpoint(all.back());
  if (!read)
    return read.takeError();
  return std::optional<Checkpoint>(std::move(*read));
}

Result<Checkpoint> checkpointOf(const std::string &folder, uint64_t steps) {
  return readCheckpoint(placeOf(folder, steps));
}

Result<void> checkSettings(const std::string &folder,
                           const Checkpoint &checkpoint,
                           const nlohmann::json &now) {
  for (const auto &[name, value] : now.items()) {
    const auto old = checkpoint.settings.find(name);
    if (old == checkpoint.settings.end() || *old != value)
      return usageError(
          "--resume: the run in '" + folder + "' had another " + name + " (" +
          (old == checkpoint.settings.end() ? "none" : old->dump()) + ", now " +
          value.dump() + ")");
  }
  return {};
}

} // namespace sinter::driver
