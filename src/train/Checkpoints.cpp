//===- Checkpoints.cpp - resumes training ---------------------------------===//

#include "train/Checkpoints.h"

#include "runtime/Hash.h"
#include "runtime/MappedFile.h"
#include "runtime/Npy.h"
#include "runtime/Text.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace sinter {

namespace fs = std::filesystem;

static constexpr const char *prefix = "step-";
static constexpr const char *description = "checkpoint.json";
static constexpr const char *checksum = "checksum";
/// The suffix of incomplete checkpoints, during writing or removal.
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

static Error cannotWrite(const CheckpointNames &names, const fs::path &path,
                         const std::string &why) {
  return systemError(names.folder + ": cannot write '" + path.string() +
                     "': " + why);
}

/// The checksum of a state's file.
static std::string checksumOf(const Tensor &tensor) {
  return Hasher()
      .add(toString(tensor.type(), tensor.shape()))
      .add({tensor.data(), tensor.bytes()})
      .finish()
      .text();
}

/// The checksum of the other fields of \p json.
static std::string checksumOf(nlohmann::json json) {
  json.erase(checksum);
  return Hasher().add(json.dump()).finish().text();
}

/// Writes the files of the folder \p place.
static Result<void> fill(const fs::path &place, const Checkpoint &checkpoint,
                         const CheckpointNames &names) {
  nlohmann::json states = nlohmann::json::array();
  for (size_t i = 0; i < checkpoint.states.size(); ++i) {
    const auto &[name, tensor] = checkpoint.states[i];
    const fs::path file = place / (std::to_string(i) + ".npy");
    if (Result<void> written = writeNpy(file.string(), tensor); !written)
      return written;
    states.push_back({{"name", name}, {checksum, checksumOf(tensor)}});
  }
  nlohmann::json json = {{"steps", checkpoint.steps},
                         {"progress", checkpoint.progress},
                         {"settings", checkpoint.settings},
                         {"states", states}};
  json[checksum] = checksumOf(json);
  std::ofstream stream(place / description);
  stream << json.dump(1) << std::flush;
  if (!stream)
    return cannotWrite(names, place / description, "the disk may be full");
  return {};
}

static fs::path checkpointPath(const std::string &folder, uint64_t steps) {
  return fs::path(folder) /
         (prefix + text("%010llu", static_cast<unsigned long long>(steps)));
}

/// Removes what a killed run left during writing or removal.
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

/// Removes a checkpoint such that no part of it ever looks like one.
static void removeCheckpoint(const fs::path &place) {
  const fs::path old = place.string() + ".old" + unfinished;
  std::error_code error;
  fs::rename(place, old, error);
  fs::remove_all(old, error);
}

Result<void> writeCheckpoint(const std::string &folder,
                             const Checkpoint &checkpoint, size_t kept,
                             std::optional<uint64_t> best,
                             const CheckpointNames &names) {
  const fs::path place = checkpointPath(folder, checkpoint.steps),
                 part = place.string() + unfinished;
  std::error_code error;
  removeUnfinished(folder);
  fs::create_directories(part, error);
  if (error)
    return cannotWrite(names, part, error.message());
  if (Result<void> filled = fill(part, checkpoint, names); !filled) {
    fs::remove_all(part, error);
    return filled;
  }
  // One of the same step is of a run that was resumed from an earlier step.
  removeCheckpoint(place);
  fs::rename(part, place, error);
  if (error)
    return cannotWrite(names, place, error.message());
  std::vector<fs::path> all = checkpointsIn(folder);
  for (size_t i = 0; i + kept < all.size(); ++i)
    if (!best || all[i] != checkpointPath(folder, *best))
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
    return inFile(systemError("this is no checkpoint of `sinter train`"), path);
  };
  const auto damaged = [&](const std::string &file) {
    return systemError(file + ": is damaged: its checksum is wrong; without '" +
                       place.string() +
                       "' the run goes on from the checkpoint before it");
  };
  if (!json.is_object() || !json.contains("steps") ||
      !json["steps"].is_number_unsigned() || !json.contains("states") ||
      !json["states"].is_array() || !json.contains("settings") ||
      !json["settings"].is_object() || !json.contains("progress") ||
      !json["progress"].is_object())
    return broken();
  if (!json.contains(checksum) || json[checksum] != checksumOf(json))
    return damaged(path);
  Checkpoint checkpoint;
  checkpoint.steps = json["steps"].get<uint64_t>();
  checkpoint.progress = json["progress"];
  checkpoint.settings = json["settings"];
  for (size_t i = 0; i < json["states"].size(); ++i) {
    const nlohmann::json &state = json["states"][i];
    if (!state.is_object() || !state.contains("name") ||
        !state["name"].is_string() || !state.contains(checksum))
      return broken();
    const std::string file = (place / (std::to_string(i) + ".npy")).string();
    Result<Tensor> tensor = readNpy(file);
    if (!tensor)
      return tensor.takeError();
    if (state[checksum] != checksumOf(*tensor))
      return damaged(file);
    checkpoint.states.emplace_back(state["name"].get<std::string>(),
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
  return readCheckpoint(checkpointPath(folder, steps));
}

Result<void> checkSettings(const std::string &folder,
                           const Checkpoint &checkpoint,
                           const nlohmann::json &now,
                           const CheckpointNames &names) {
  for (const auto &[name, value] : now.items()) {
    const auto old = checkpoint.settings.find(name);
    if (old == checkpoint.settings.end() || *old != value)
      return usageError(
          names.resumes + ": the run in '" + folder + "' had another " + name +
          " (" + (old == checkpoint.settings.end() ? "none" : old->dump()) +
          ", now " + value.dump() + ")");
  }
  return {};
}

} // namespace sinter
