//===- TrainingData.cpp - samples for training ----------------------------===//

#include "data/TrainingData.h"

#include "data/TrainingDataLoader.h"
#include "runtime/Idx.h"
#include "runtime/Random.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

namespace sinter {

namespace fs = std::filesystem;

Result<std::vector<Tensor>>
TrainingData::rows(std::span<const size_t> numbers) const {
  if (decode)
    return stacked(
        numbers.size(), [&](size_t i) { return decode(numbers[i]); }, "data",
        names);
  std::vector<Tensor> rows;
  for (const Tensor &input : inputs)
    rows.push_back(rowsOf(input, numbers));
  return rows;
}

/// A function of the seed, the epoch and the sample's index only.
Tensor TrainingData::keysOf(std::span<const size_t> numbers,
                            uint64_t epoch) const {
  // Random numbers independent of those that order and augment the samples.
  const uint64_t own = splitMix(splitMix(seed, UINT64_MAX), epoch);
  std::vector<uint64_t> keys;
  for (size_t number : numbers)
    keys.push_back(splitMix(own, firstSample + number));
  return Tensor::of<uint64_t>(ElementType::UI64,
                              {static_cast<int64_t>(keys.size())}, keys);
}

Result<Batch> TrainingData::batch(std::span<const size_t> numbers,
                                  uint64_t epoch) const {
  Result<std::vector<Tensor>> found = rows(numbers);
  if (!found)
    return found.takeError();
  Batch batch{std::move(*found), {}, keysOf(numbers, epoch)};
  for (const Tensor &target : targets)
    batch.targets.push_back(rowsOf(target, numbers));
  if (buckets)
    buckets->cut(buckets->ofSamples()[numbers.front()], batch.inputs,
                 batch.targets);
  if (!window)
    return batch;
  Tensor &pictures = batch.inputs.front();
  std::vector<Placement> placements;
  for (size_t number : numbers)
    placements.push_back(placementOf(augmentation,
                                     pictureSizeOf(pictures.shape(), layout),
                                     *window, epoch, number));
  pictures = cutWindows(pictures, layout, *window, placements);
  return batch;
}

Result<SharedBatch> TrainingData::parts(std::span<const size_t> numbers,
                                        uint64_t epoch,
                                        const Processes &processes) const {
  SharedBatch shared;
  shared.taking =
      static_cast<uint32_t>(std::min<size_t>(processes.size(), numbers.size()));
  const size_t least = numbers.size() / shared.taking;
  const size_t rest = numbers.size() % shared.taking;
  for (size_t local = 0; local < processes.localCount(); ++local) {
    const size_t rank = processes.rankOf(local);
    shared.parts.emplace_back();
    if (rank >= shared.taking)
      continue;
    Result<Batch> part =
        batch(numbers.subspan(rank * least + std::min(rank, rest),
                              least + (rank < rest ? 1 : 0)),
              epoch);
    if (!part)
      return part.takeError();
    shared.parts.back() = std::move(*part);
  }
  return shared;
}

std::string TrainingDataOptions::where() const {
  return arrays ? names.source : names.source + " '" + source + "'";
}

namespace {
enum class SourceKind { Arrays, Archive, Folder, Idx };
} // namespace

/// Detects the kind of source, and checks the other options for it.
static Result<SourceKind> kindOf(const TrainingDataOptions &options) {
  if (options.arrays)
    return SourceKind::Arrays;
  const std::string &source = options.source;
  std::error_code ignored;
  if (!fs::exists(source, ignored))
    return systemError(options.names.source + ": there is no '" + source + "'");
  const bool isFolder = fs::is_directory(source, ignored);
  const bool isArchive = !isFolder && source.ends_with(".npz");
  if (!isFolder && !isArchive && !isIdx(source))
    return usageError(options.where() +
                      ": an .npz, a folder with a folder for each class, or an "
                      "IDX file of bytes is expected");
  if (!isArchive && options.targets.size() > 1)
    return usageError(options.where() + ": has one label a sample, and " +
                      std::to_string(options.targets.size()) +
                      " targets are asked for; an .npz may have several");
  if (!isArchive && !options.buckets.sizes.empty())
    return usageError(options.where() + ": " + options.buckets.called +
                      " is for sequences in an .npz");
  return isFolder    ? SourceKind::Folder
         : isArchive ? SourceKind::Archive
                     : SourceKind::Idx;
}

Result<TrainingData> TrainingData::load(Session &session,
                                        const std::string &modelPath,
                                        const TrainingDataOptions &options,
                                        const NamedShapes &shapes) {
  Result<SourceKind> kind = kindOf(options);
  if (!kind)
    return kind.takeError();
  const bool areArrays =
      *kind == SourceKind::Arrays || *kind == SourceKind::Archive;
  if (areArrays && options.pictures.preprocessing.resize)
    return usageError(options.where() + ": " + options.names.resize +
                      " is for images, not for arrays");
  Result<Preprocessing> preparing =
      areArrays ? options.pictures.preprocessing
                : preprocessingFor(session.model(), options.pictures);
  if (!preparing)
    return preparing.takeError();
  // Later decoding refers to the loader's options.
  auto kept = std::make_shared<const TrainingDataOptions>(options);
  auto size = std::make_shared<const NamedShapes>(shapes);
  auto name = std::make_shared<const std::string>(modelPath);
  TrainingDataLoader loader(session, *name, *kept, *size, *preparing);
  if (Result<void> done = *kind == SourceKind::Arrays
                              ? loader.fromArrays(*kept->arrays)
                          : *kind == SourceKind::Archive ? loader.fromArchive()
                          : *kind == SourceKind::Folder  ? loader.fromFolders()
                                                         : loader.fromIdx();
      !done)
    return done.takeError();
  TrainingData data;
  data.samples = static_cast<size_t>(loader.targets.front().dim(0));
  if (data.samples == 0)
    return usageError(options.where() + ": there is no sample");
  Result<std::optional<PictureSize>> window = loader.window();
  if (!window)
    return window.takeError();
  data.window = *window;
  data.inputs = std::move(loader.inputs);
  if (loader.decode)
    data.decode = [kept, size, name, decode = std::move(loader.decode)](
                      size_t number) { return decode(number); };
  data.targets = std::move(loader.targets);
  data.classes = std::move(loader.classNames);
  data.buckets = std::move(loader.buckets);
  data.seed = options.seed;
  data.firstSample = options.firstSample;
  data.names = options.names;
  data.place = options.where();
  data.augmentation = options.augmentation;
  data.layout = imageOptions(*preparing).layout;
  return data;
}

} // namespace sinter
