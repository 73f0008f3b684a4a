//===- EvaluationData.cpp - samples with what is right of them ------------===//

#include "evaluate/EvaluationData.h"

#include "data/Labels.h"
#include "data/SampleRows.h"
#include "runtime/CpuCount.h"
#include "runtime/Idx.h"
#include "runtime/MappedFile.h"
#include "runtime/Npy.h"
#include "runtime/Png.h"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <numeric>

namespace sinter {

namespace fs = std::filesystem;

/// The target of one label.
static SampleTruth labelTruth(int64_t label) {
  return {Tensor::of<int64_t>(ElementType::I64, {1}, {&label, 1}), {}, {}};
}

static std::vector<size_t> everyInput(const ModelDescription &model) {
  std::vector<size_t> all(model.inputs.size());
  std::iota(all.begin(), all.end(), size_t(0));
  return all;
}

/// The first few of \p names, for a message.
static std::string someOf(const std::vector<std::string> &names) {
  constexpr size_t most = 3;
  std::string list;
  for (size_t i = 0; i < std::min(most, names.size()); ++i)
    list += (i ? ", '" : "'") + names[i] + "'";
  return list + (names.size() > most
                     ? " and " + std::to_string(names.size() - most) + " more"
                     : "");
}

/// The only source, if it has its samples in an archive of arrays or in an IDX
/// file.
static std::optional<std::string> arraySource(const SampleOptions &options) {
  if (options.sources.size() != 1 || !options.truth.empty())
    return std::nullopt;
  const std::string &source = options.sources.front();
  std::error_code ignored;
  if (!fs::is_regular_file(source, ignored) ||
      (!source.ends_with(".npz") && !isIdx(source)))
    return std::nullopt;
  return source;
}

Result<void> EvaluationData::takeArrays(Session &session,
                                        const std::string &modelPath,
                                        const SampleOptions &options,
                                        const NamedShapes &shapes) {
  TrainingDataOptions how;
  how.source = options.sources.front();
  how.labels = options.labels;
  how.pictures = options.pictures;
  how.names.source = options.names.sources;
  how.names.labels = options.names.labels;
  how.targets = {{"target", "labels"}};
  Result<TrainingData> loaded =
      TrainingData::load(session, modelPath, how, shapes);
  if (!loaded)
    return loaded.takeError();
  auto data = std::make_shared<const TrainingData>(std::move(*loaded));
  std::vector<size_t> chosen(data->count());
  for (size_t i = 0; i < chosen.size(); ++i)
    chosen[i] = i;
  if (options.most != 0 && chosen.size() > options.most) {
    std::vector<size_t> some;
    for (size_t i = 0; i < options.most; ++i)
      some.push_back(i * chosen.size() / options.most);
    chosen = std::move(some);
  }
  samples = chosen.size();
  varyingInputs = everyInput(session.model());
  auto order = std::make_shared<const std::vector<size_t>>(std::move(chosen));
  loadInputs = [data, order](size_t index) -> Result<std::vector<Tensor>> {
    Result<Batch> one = data->batch({&(*order)[index], 1}, 0);
    if (!one)
      return one.takeError();
    return std::move(one->inputs);
  };
  loadTruth = [target = data->allTargets().targets.front(),
               order](size_t index) -> Result<SampleTruth> {
    return SampleTruth{
        rowOfBatch(target, static_cast<int64_t>((*order)[index])), {}, {}};
  };
  name = [order, source = how.source](size_t index) {
    return source + ": sample " + std::to_string((*order)[index]);
  };
  return {};
}

Result<void> EvaluationData::takeClasses(const Samples &found,
                                         const SampleOptions &options) {
  std::vector<std::string> unknown;
  for (size_t i = 0; i < found.count; ++i)
    if (i >= found.classes.size() || found.classes[i] < 0)
      unknown.push_back(found.paths[i]);
  if (!unknown.empty())
    return usageError(
        options.names.sources + ": what is right is not known of " +
        someOf(unknown) + ": samples lie in a folder for each class, or " +
        options.names.truth +
        " gives their classes (lines of a file's name, a tab and a class), a "
        "folder with NAME.npy or NAME.png for each, or boxes (.json); an .npz "
        "has an array 'target'");
  loadTruth = [classes = found.classes](size_t index) -> Result<SampleTruth> {
    return labelTruth(classes[index]);
  };
  return {};
}

static Result<Tensor> readClassMap(const std::string &path) {
  auto file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  return decodeClassMap((*file)->bytes(), path);
}

/// The class map or array at \p path, with a first dimension of 1.
static Result<SampleTruth> readTarget(const std::string &path) {
  Result<Tensor> target =
      path.ends_with(".npy") ? readNpy(path) : readClassMap(path);
  if (!target)
    return target.takeError();
  Shape shape = target->shape();
  if (shape.empty() || shape.front() != 1)
    shape.insert(shape.begin(), 1);
  return SampleTruth{target->reshaped(shape), {}, {}};
}

Result<void> EvaluationData::takeMaps(const Samples &found,
                                      const std::string &folder,
                                      const std::string &option) {
  std::vector<std::string> paths, missing;
  for (const std::string &each : found.paths) {
    const std::string base =
        (fs::path(folder) / fs::path(each).stem()).string();
    std::error_code ignored;
    if (fs::exists(base + ".npy", ignored))
      paths.push_back(base + ".npy");
    else if (fs::exists(base + ".png", ignored))
      paths.push_back(base + ".png");
    else
      missing.push_back(fs::path(each).stem().string());
  }
  if (!missing.empty())
    return usageError(option + " '" + folder +
                      "': there is no .npy or .png of " + someOf(missing));
  loadTruth = [paths](size_t index) { return readTarget(paths[index]); };
  return {};
}

/// The index of each category: that of its name among \p labels, or without
/// these its id.
static Result<std::map<int64_t, int64_t>>
classesOfCategories(const BoxTruth &truth,
                    const std::vector<std::string> &labels,
                    const SampleOptions &options) {
  std::map<int64_t, int64_t> classes;
  for (const auto &[id, name] : truth.categories) {
    const auto label = std::ranges::find(labels, name);
    if (labels.empty())
      classes[id] = id;
    else if (label == labels.end())
      return usageError(options.names.truth + " '" + options.truth +
                        "': the category '" + name + "' is no label of " +
                        options.names.labels);
    else
      classes[id] = label - labels.begin();
  }
  return classes;
}

/// The size of the image in the file \p path; 0 if it is none.
static Result<PictureSize> sizeOfImage(const std::string &path) {
  auto file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  if (!isImage((*file)->bytes()))
    return PictureSize{};
  Result<Tensor> image = decodeImage((*file)->bytes(), path);
  if (!image)
    return image.takeError();
  return PictureSize{image->dim(0), image->dim(1)};
}

Result<void> EvaluationData::takeBoxes(const Samples &found,
                                       const SampleOptions &options) {
  Result<BoxTruth> read = readBoxTruth(options.truth, options.names.truth);
  if (!read)
    return read.takeError();
  auto classes = classesOfCategories(*read, classNames, options);
  if (!classes)
    return classes.takeError();
  std::vector<SampleTruth> truths;
  std::vector<std::string> unknown;
  for (const std::string &path : found.paths) {
    const auto image = read->images.find(fs::path(path).filename().string());
    if (image == read->images.end()) {
      unknown.push_back(path);
      continue;
    }
    SampleTruth &truth = truths.emplace_back();
    truth.boxes = image->second.boxes;
    truth.size = image->second.size;
    if (truth.size.width <= 0 || truth.size.height <= 0) {
      Result<PictureSize> size = sizeOfImage(path);
      if (!size)
        return size.takeError();
      truth.size = *size;
    }
    for (TrueBox &box : truth.boxes)
      if (const auto known = classes->find(box.label); known != classes->end())
        box.label = known->second;
  }
  if (!unknown.empty())
    return usageError(options.names.truth + " '" + options.truth +
                      "': it has no image " + someOf(unknown));
  if (classNames.empty())
    for (const auto &[id, label] : read->categories)
      if (id >= 0 && id < int64_t(1) << 20) {
        if (classNames.size() <= static_cast<size_t>(id))
          classNames.resize(static_cast<size_t>(id) + 1);
        classNames[id] = label;
      }
  areBoxes = true;
  loadTruth = [truths =
                   std::move(truths)](size_t index) -> Result<SampleTruth> {
    return truths[index];
  };
  return {};
}

Result<void> EvaluationData::takeFiles(Session &session,
                                       const std::string &modelPath,
                                       const SampleOptions &options,
                                       const NamedShapes &shapes) {
  std::error_code ignored;
  const bool areMaps = fs::is_directory(options.truth, ignored);
  const bool hasJson = options.truth.ends_with(".json");
  SampleOptions plain = options;
  plain.asRows = true;
  if (areMaps || hasJson)
    plain.truth.clear();
  Result<Samples> found = findSamples(session, modelPath, plain, shapes);
  if (!found)
    return found.takeError();
  if (found->count == 0)
    return usageError(options.names.sources + ": there is no sample");
  samples = found->count;
  varyingInputs = found->inputs;
  loadInputs = found->load;
  name = [names = found->names](size_t index) { return names[index]; };
  return areMaps   ? takeMaps(*found, options.truth, options.names.truth)
         : hasJson ? takeBoxes(*found, options)
                   : takeClasses(*found, options);
}

Result<EvaluationData> EvaluationData::load(Session &session,
                                            const std::string &modelPath,
                                            const SampleOptions &options,
                                            const NamedShapes &shapes) {
  EvaluationData data;
  data.threads = usableCpuCount();
  if (!options.labels.empty()) {
    Result<std::vector<std::string>> read =
        readLabels(options.labels, options.names.labels);
    if (!read)
      return read.takeError();
    data.classNames = std::move(*read);
  }
  Result<void> taken =
      arraySource(options)
          ? data.takeArrays(session, modelPath, options, shapes)
          : data.takeFiles(session, modelPath, options, shapes);
  if (!taken)
    return taken.takeError();
  return data;
}

/// The truth of a program's sample: labels of any integers as i64, and one of
/// no dimension as one of a row.
static Result<SampleTruth> truthOf(const Tensor &given) {
  Tensor target = given;
  if (isInteger(target.type()) && target.type() != ElementType::I64) {
    std::vector<int64_t> values;
    for (int64_t i = 0; i < target.size(); ++i)
      values.push_back(target.toInteger(i));
    target = Tensor::of<int64_t>(ElementType::I64, target.shape(), values);
  }
  if (target.rank() == 0)
    target = target.reshaped({1});
  return SampleTruth{std::move(target), {}, {}};
}

Result<EvaluationData> EvaluationData::of(const GivenSamples &given,
                                          const ModelDescription &model) {
  if (given.count == 0)
    return usageError("there is no sample");
  /// The targets of samples whose inputs were loaded.
  struct Targets {
    std::mutex mutex;
    std::map<size_t, Tensor> all;
  };
  auto targets = std::make_shared<Targets>();
  EvaluationData data;
  data.samples = given.count;
  data.varyingInputs = everyInput(model);
  data.name = [](size_t index) { return "sample " + std::to_string(index); };
  data.loadInputs = [load = given.load,
                     targets](size_t index) -> Result<std::vector<Tensor>> {
    Result<LabelledSample> sample = load(index);
    if (!sample)
      return sample.takeError();
    const std::lock_guard lock(targets->mutex);
    targets->all[index] = std::move(sample->target);
    return std::move(sample->inputs);
  };
  data.loadTruth = [targets](size_t index) {
    const std::lock_guard lock(targets->mutex);
    return truthOf(targets->all.extract(index).mapped());
  };
  return data;
}

} // namespace sinter
