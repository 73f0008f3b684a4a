//===- SampleFiles.cpp - samples from files -------------------------------===//

#include "data/SampleFiles.h"

#include "data/Labels.h"
#include "data/SampleFinder.h"
#include "runtime/Npy.h"
#include "runtime/Npz.h"
#include "runtime/OutOfMemory.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace sinter {

namespace fs = std::filesystem;

bool isNamedAsPicture(const std::string &path) {
  static constexpr std::string_view endings[] = {
      ".png", ".jpg",  ".jpeg", ".bmp", ".gif", ".webp",
      ".tif", ".tiff", ".pnm",  ".pbm", ".pgm", ".ppm"};
  return std::ranges::find(endings, extensionOf(path)) != std::end(endings);
}

std::vector<ModelInput> inputsOfShapes(const ModelDescription &model,
                                       const NamedShapes &shapes) {
  std::vector<ModelInput> inputs = model.inputs;
  for (const auto &[name, shape] : shapes) {
    const std::optional<size_t> index = model.inputNamed(name);
    if (!index || (inputs[*index].ranked &&
                   shape.size() != inputs[*index].spec.shape.size()))
      continue;
    ModelInput &input = inputs[*index];
    input.ranked = true;
    input.symbols.resize(shape.size());
    input.spec.shape = shape;
    input.sizesAreHints = false;
    for (size_t i = 0; i < shape.size(); ++i)
      if (shape[i] >= 0)
        input.symbols[i].clear();
  }
  return inputs;
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

namespace {

/// The classes of samples, by the folders or lists that they are in, or by the
/// file of the options.
class SampleClasses {
public:
  SampleClasses(const ModelDescription &model, const SampleOptions &options,
                const std::vector<SamplePosition> &places)
      : model(model), options(options), places(places) {}

  /// One a sample, -1 where it is unknown; none if all are.
  Result<std::vector<int64_t>> find();

private:
  Result<void> findNames();
  Result<void> readTruth(std::vector<int64_t> &classes) const;
  Result<int64_t> classOf(const std::string &text,
                          const std::string &where) const;
  std::string truthText() const {
    return options.names.truth + " " + options.truth;
  }

  const ModelDescription &model;
  const SampleOptions &options;
  const std::vector<SamplePosition> &places;
  std::vector<std::string> labels;
};

} // namespace

/// The number in \p text; nothing if it is none.
static std::optional<int64_t> classNumber(const std::string &text) {
  int64_t number = -1;
  const auto [stop, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || stop != text.data() + text.size() || number < 0)
    return std::nullopt;
  return number;
}

/// The index of a class from its index or its label.
Result<int64_t> SampleClasses::classOf(const std::string &text,
                                       const std::string &where) const {
  const auto label = std::ranges::find(labels, text);
  if (label != labels.end())
    return label - labels.begin();
  if (const std::optional<int64_t> number = classNumber(text))
    return *number;
  return usageError(
      where + ": '" + text + "' is no class's number" +
      (labels.empty()
           ? "; " + options.names.labels + " gives the classes' names"
           : ", and no label of " + options.names.labels));
}

/// Finds the names of the classes: those of the options; those that the model
/// keeps, if the samples' are among them; else those of the samples, sorted.
Result<void> SampleClasses::findNames() {
  if (!options.labels.empty()) {
    Result<std::vector<std::string>> read =
        readLabels(options.labels, options.names.labels);
    if (!read)
      return read.takeError();
    labels = std::move(*read);
    return {};
  }
  std::set<std::string> texts;
  bool areFolders = false;
  for (const SamplePosition &place : places)
    if (!place.classText.empty()) {
      texts.insert(place.classText);
      areFolders |= place.path.parent_path().filename() == place.classText;
    }
  const std::vector<std::string> kept = keptLabels(model);
  const auto known = std::ranges::count_if(texts, [&](const auto &text) {
    return std::ranges::find(kept, text) != kept.end();
  });
  if (known > 0 && known < std::ssize(texts)) {
    const auto other = std::ranges::find_if(texts, [&](const auto &text) {
      return std::ranges::find(kept, text) == kept.end();
    });
    return usageError(options.names.sources + ": the class '" + *other +
                      "' is none of those whose names the model keeps (" +
                      labelsKey + "); " + options.names.labels +
                      " gives others");
  }
  const bool areNumbers =
      !areFolders && std::ranges::all_of(texts, [](const auto &text) {
        return classNumber(text).has_value();
      });
  if (known > 0 || texts.empty())
    labels = kept;
  else if (!areNumbers)
    labels.assign(texts.begin(), texts.end());
  return {};
}

Result<std::vector<int64_t>> SampleClasses::find() {
  if (Result<void> named = findNames(); !named)
    return named.takeError();
  std::vector<int64_t> classes(places.size(), -1);
  bool areKnown = !options.truth.empty();
  for (size_t i = 0; i < places.size(); ++i)
    if (!places[i].classText.empty()) {
      Result<int64_t> number =
          classOf(places[i].classText,
                  options.names.sources + ": the class of a folder or a list");
      if (!number)
        return number.takeError();
      classes[i] = *number;
      areKnown = true;
    }
  if (!areKnown)
    return std::vector<int64_t>();
  if (!options.truth.empty())
    if (Result<void> read = readTruth(classes); !read)
      return read.takeError();
  return classes;
}

/// Sets the classes that the file of the options has.
Result<void> SampleClasses::readTruth(std::vector<int64_t> &classes) const {
  Result<std::vector<std::string>> lines =
      readLabels(options.truth, options.names.labels);
  if (!lines)
    return lines.takeError();
  std::map<std::string, std::string> classOfFile;
  for (const std::string &line : *lines) {
    const size_t tab = line.rfind('\t');
    if (line.empty())
      continue;
    if (tab == std::string::npos)
      return usageError(truthText() + ": '" + line +
                        "': a file's name, a tab and a class are wanted");
    classOfFile[fs::path(line.substr(0, tab)).filename().string()] =
        line.substr(tab + 1);
  }
  size_t known = 0;
  for (size_t i = 0; i < places.size(); ++i) {
    auto found = classOfFile.find(places[i].path.filename().string());
    if (found == classOfFile.end())
      continue;
    Result<int64_t> number = classOf(found->second, truthText());
    if (!number)
      return number.takeError();
    classes[i] = *number;
    ++known;
  }
  if (known == 0)
    return usageError(truthText() + ": it names none of the samples; '" +
                      places.front().path.filename().string() +
                      "' is one of them");
  return {};
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

namespace {

/// Loads samples one by one.
class SampleLoader {
public:
  SampleLoader(Session &session, std::string modelPath,
               const SampleOptions &options, NamedShapes shapes,
               std::vector<SamplePosition> places,
               const std::vector<ModelInput> &inputs,
               const BatchDimension &batch)
      : session(session), modelPath(std::move(modelPath)), options(options),
        shapes(std::move(shapes)), places(std::move(places)), batch(batch),
        rowModel(session.model()) {
    rowModel.inputs = withAnyBatch(inputs, batch);
  }

  Result<std::vector<Tensor>> load(size_t index) const;

private:
  Result<void> checkRows(const std::vector<Tensor> &sample) const;
  Result<NamedTensors> archived(const SamplePosition &place) const;

  Session &session;
  std::string modelPath;
  SampleOptions options;
  NamedShapes shapes;
  std::vector<SamplePosition> places;
  BatchDimension batch;
  /// The model, for batches of any size.
  ModelDescription rowModel;
};

} // namespace

/// The arrays of an archive that is one sample, by the inputs' names.
Result<NamedTensors> SampleLoader::archived(const SamplePosition &place) const {
  const auto &[path, wanted] = place.archive;
  auto arrays = readNpz(path);
  if (!arrays)
    return arrays.takeError();
  const std::vector<ModelInput> &inputs = session.model().inputs;
  NamedTensors found;
  for (auto &[name, tensor] : *arrays) {
    const std::optional<size_t> index =
        inputOfArray(session.model(), wanted, name, arrays->size());
    if (!index)
      continue;
    const TensorSpec &spec = inputs[*index].spec;
    found.emplace_back(spec.name, asStored(std::move(tensor), spec.type));
  }
  if (found.empty())
    return usageError("'" + path + "' has no array '" +
                      inputs[wanted.front()].spec.name + "'");
  return found;
}

/// Checks that \p sample is one row of a batch, or a whole one.
Result<void> SampleLoader::checkRows(const std::vector<Tensor> &sample) const {
  for (size_t i = 0; i < sample.size() && batch.size > 1; ++i)
    if (batch.has(i) && sample[i].dim(0) != 1 && sample[i].dim(0) != batch.size)
      return usageError("input '" + rowModel.inputs[i].spec.name +
                        "': " + toString(sample[i].type(), sample[i].shape()) +
                        " is neither one row of a batch nor one of " +
                        std::to_string(batch.size));
  return {};
}

Result<std::vector<Tensor>> SampleLoader::load(size_t index) const {
  const SamplePosition &place = places[index];
  InputOptions inputs = options.pictures;
  inputs.inputs.insert(inputs.inputs.end(), place.inputs.begin(),
                       place.inputs.end());
  if (!place.archive.path.empty()) {
    Result<NamedTensors> arrays = archived(place);
    if (!arrays)
      return arrays.takeError();
    inputs.tensors.insert(inputs.tensors.end(), arrays->begin(), arrays->end());
  }
  for (const auto &[shared, row] : place.arrays)
    for (const SampleArrays::Array &array : shared->arrays)
      inputs.tensors.emplace_back(
          rowModel.inputs[array.input].spec.name,
          array.rows ? sampleOf(array.tensor, *array.rows, row) : array.tensor);
  const std::string what = options.names.sources + " '" + place.name + "'";
  Result<std::vector<Tensor>> loaded = catchingOutOfMemory(what, [&] {
    return options.asRows ? loadInputs(rowModel, modelPath, inputs, {})
                          : loadInputs(session, modelPath, inputs, shapes,
                                       /*fillRandom=*/false);
  });
  if (loaded)
    if (Result<void> good = checkRows(*loaded); !good)
      loaded = good.takeError();
  if (loaded ||
      loaded.error().message().find(place.path.string()) != std::string::npos)
    return loaded;
  // Which of several files.
  return inside(what, loaded.takeError());
}

Result<Samples> findSamples(Session &session, const std::string &modelPath,
                            const SampleOptions &options,
                            const NamedShapes &shapes) {
  if (session.model().inputs.empty())
    return usageError(modelPath + ": the model has no inputs");
  const std::vector<ModelInput> inputs =
      inputsOfShapes(session.model(), shapes);
  SampleFinder finder(session.model(), inputs, options);
  Result<std::vector<SamplePosition>> places = finder.find();
  if (!places)
    return places.takeError();
  Result<std::vector<int64_t>> classes =
      SampleClasses(session.model(), options, *places).find();
  if (!classes)
    return classes.takeError();
  Samples samples;
  samples.count = places->size();
  samples.classes = std::move(*classes);
  samples.inputs = finder.varying();
  for (const SamplePosition &place : *places) {
    samples.paths.push_back(place.path.string());
    samples.names.push_back(place.name);
  }
  const BatchDimension batch =
      options.asRows ? batchOf(inputs, samples.inputs) : BatchDimension();
  auto loader = std::make_shared<SampleLoader>(
      session, modelPath, options, shapes, std::move(*places), inputs, batch);
  samples.load = [loader](size_t index) { return loader->load(index); };
  return samples;
}

} // namespace sinter
