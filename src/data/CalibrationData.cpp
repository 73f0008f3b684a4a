//===- CalibrationData.cpp - samples for calibration and evaluation -------===//

#include "data/CalibrationData.h"

#include "data/Labels.h"
#include "runtime/MappedFile.h"
#include "runtime/Npz.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <map>
#include <memory>

namespace sinter {

namespace fs = std::filesystem;

bool isNamedAsPicture(const std::string &path) {
  std::string ending = fs::path(path).extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
  });
  static constexpr std::string_view endings[] = {
      ".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff"};
  return std::ranges::find(endings, ending) != std::end(endings);
}

namespace {

/// The input files of one sample.
struct SamplePosition {
  /// As InputOptions has them.
  std::vector<std::string> inputs;
  /// An archive instead.
  std::string archive;
  /// The file or folder, for the file of labels and for errors.
  fs::path path;
  /// The folder's name, if that is the class; else empty.
  std::string folderClass;
};

bool isArray(const fs::path &path) {
  return path.extension() == ".npy" || path.extension() == ".pb" ||
         path.extension() == ".npz";
}

bool isPicture(const fs::path &path) {
  if (isNamedAsPicture(path.string()))
    return true;
  auto file = MappedFile::open(path.string());
  return file && isImage((*file)->bytes());
}

class SampleFinder {
public:
  SampleFinder(const ModelDescription &model, const CalibrationOptions &options)
      : model(model), options(options) {}

  Result<std::vector<SamplePosition>> find();
  Result<std::vector<int64_t>>
  classesOf(const std::vector<SamplePosition> &places) const;

private:
  Result<void> lookInto(const std::string &source);
  Result<void> lookIntoFolder(const fs::path &folder, bool isClass);
  bool takeFolder(const fs::path &folder);
  void takeFile(const fs::path &file, const std::string &folderClass);
  Result<std::vector<fs::path>> entriesOf(const fs::path &folder) const;
  std::string truthText() const {
    return options.names.truth + " " + options.truth;
  }

  const ModelDescription &model;
  const CalibrationOptions &options;
  std::vector<SamplePosition> places;
};

/// Loads samples one by one.
class SampleLoader {
public:
  SampleLoader(Session &session, std::string modelPath,
               const CalibrationOptions &options, NamedShapes shapes,
               std::vector<SamplePosition> places)
      : session(session), modelPath(std::move(modelPath)), options(options),
        shapes(std::move(shapes)), places(std::move(places)) {}

  Result<std::vector<Tensor>> load(size_t index) const;

private:
  Result<std::vector<Tensor>> loadArchive(const SamplePosition &place) const;

  Session &session;
  std::string modelPath;
  CalibrationOptions options;
  NamedShapes shapes;
  std::vector<SamplePosition> places;
};

} // namespace

Result<std::vector<fs::path>>
SampleFinder::entriesOf(const fs::path &folder) const {
  std::error_code error;
  std::vector<fs::path> entries;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (!entry->path().filename().string().starts_with("."))
      entries.push_back(entry->path());
  if (error)
    return systemError(options.names.sources + ": cannot read the folder '" +
                       folder.string() + "': " + error.message());
  std::ranges::sort(entries);
  return entries;
}

void SampleFinder::takeFile(const fs::path &file,
                            const std::string &folderClass) {
  SamplePosition place;
  place.path = file;
  place.folderClass = folderClass;
  if (file.extension() == ".npz")
    place.archive = file.string();
  else
    place.inputs = {model.inputs.front().spec.name + "=" + file.string()};
  places.push_back(std::move(place));
}

/// A folder with a file for each input is a sample.
bool SampleFinder::takeFolder(const fs::path &folder) {
  SamplePosition place;
  place.path = folder;
  std::error_code ignored;
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    const std::string &name = model.inputs[i].spec.name;
    fs::path file = folder / ("input_" + std::to_string(i) + ".pb");
    if (!fs::exists(file, ignored))
      file = folder / (name + ".npy");
    if (name.find('/') != std::string::npos || !fs::exists(file, ignored))
      return false;
    place.inputs.push_back(name + "=" + file.string());
  }
  places.push_back(std::move(place));
  return true;
}

Result<void> SampleFinder::lookIntoFolder(const fs::path &folder,
                                          bool isClass) {
  // For a single input, NAME.npy is a file like others.
  std::error_code unknown;
  const bool isOneSample =
      model.inputs.size() != 1 || fs::exists(folder / "input_0.pb", unknown);
  if (!isClass && isOneSample && takeFolder(folder))
    return {};
  Result<std::vector<fs::path>> entries = entriesOf(folder);
  if (!entries)
    return entries.takeError();
  std::error_code ignored;
  for (const fs::path &entry : *entries) {
    if (fs::is_directory(entry, ignored)) {
      if (takeFolder(entry))
        continue;
      if (!isClass && model.inputs.size() == 1)
        if (Result<void> done = lookIntoFolder(entry, /*isClass=*/true); !done)
          return done;
      continue;
    }
    const bool isOne =
        entry.extension() == ".npz" ||
        (model.inputs.size() == 1 && (isArray(entry) || isPicture(entry)));
    if (isOne)
      takeFile(entry, isClass ? folder.filename().string() : "");
  }
  return {};
}

Result<void> SampleFinder::lookInto(const std::string &source) {
  constexpr int randomSamples = 10;
  std::error_code ignored;
  const size_t before = places.size();
  Result<std::optional<uint64_t>> seed =
      randomSeed(options.names.sources, source);
  if (!seed)
    return seed.takeError();
  if (*seed) {
    for (int i = 0; i < randomSamples; ++i) {
      SamplePosition place;
      place.inputs = {"random:" + std::to_string(**seed + i)};
      place.path = place.inputs.front();
      places.push_back(std::move(place));
    }
    return {};
  }
  if (!fs::exists(source, ignored))
    return systemError(options.names.sources + ": there is no '" + source +
                       "'");
  if (!fs::is_directory(source, ignored)) {
    if (model.inputs.size() != 1 && !source.ends_with(".npz"))
      return usageError(
          options.names.sources + " '" + source + "': the model has " +
          std::to_string(model.inputs.size()) +
          " inputs; give a folder with a sub-folder a sample (input_0.pb, ... "
          "or NAME.npy in each), or an .npz with an array an input");
    takeFile(source, "");
    return {};
  }
  if (Result<void> done = lookIntoFolder(source, /*isClass=*/false); !done)
    return done;
  if (places.size() == before)
    return usageError(
        options.names.sources + " '" + source +
        "': no sample is in this folder: " +
        (model.inputs.size() == 1
             ? "neither .npy, .pb, .npz nor PNG or JPEG files, nor folders of "
               "such"
             : "no sub-folder with input_0.pb, ... or NAME.npy for each of "
               "the " +
                   std::to_string(model.inputs.size()) +
                   " inputs, and no .npz"));
  return {};
}

Result<std::vector<SamplePosition>> SampleFinder::find() {
  for (const std::string &source : options.sources)
    if (Result<void> done = lookInto(source); !done)
      return done.takeError();
  if (options.most == 0 || places.size() <= options.most)
    return std::move(places);
  std::vector<SamplePosition> some;
  for (size_t i = 0; i < options.most; ++i)
    some.push_back(places[i * places.size() / options.most]);
  return some;
}

/// The index of a class from its index or its label.
static Result<int64_t> classOf(const std::string &text,
                               const std::vector<std::string> &labels,
                               const std::string &where,
                               const std::string &labelsName) {
  const auto label = std::ranges::find(labels, text);
  if (label != labels.end())
    return label - labels.begin();
  int64_t number = -1;
  const auto [stop, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && stop == text.data() + text.size() && number >= 0)
    return number;
  return usageError(where + ": '" + text + "' is no class's number" +
                    (labels.empty()
                         ? "; " + labelsName + " gives the classes' names"
                         : ", and no label of " + labelsName));
}

Result<std::vector<int64_t>>
SampleFinder::classesOf(const std::vector<SamplePosition> &places) const {
  std::vector<std::string> labels;
  if (!options.labels.empty()) {
    Result<std::vector<std::string>> read =
        readLabels(options.labels, options.names.labels);
    if (!read)
      return read.takeError();
    labels = std::move(*read);
  }
  std::vector<int64_t> classes(places.size(), -1);
  const bool hasFolders =
      std::ranges::any_of(places, [](const SamplePosition &place) {
        return !place.folderClass.empty();
      });
  if (options.truth.empty() && !hasFolders)
    return std::vector<int64_t>();
  if (hasFolders && labels.empty()) {
    for (const SamplePosition &place : places)
      labels.push_back(place.folderClass);
    std::ranges::sort(labels);
    labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
    std::erase(labels, "");
  }
  for (size_t i = 0; i < places.size(); ++i)
    if (!places[i].folderClass.empty()) {
      Result<int64_t> number = classOf(
          places[i].folderClass, labels,
          options.names.sources + ": a folder's name", options.names.labels);
      if (!number)
        return number.takeError();
      classes[i] = *number;
    }
  if (options.truth.empty())
    return classes;
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
    Result<int64_t> number =
        classOf(found->second, labels, truthText(), options.names.labels);
    if (!number)
      return number.takeError();
    classes[i] = *number;
    ++known;
  }
  if (known == 0)
    return usageError(truthText() + ": it names none of the samples; '" +
                      places.front().path.filename().string() +
                      "' is one of them");
  return classes;
}

Result<std::vector<Tensor>>
SampleLoader::loadArchive(const SamplePosition &place) const {
  auto arrays = readNpz(place.archive);
  if (!arrays)
    return arrays.takeError();
  const std::vector<ModelInput> &inputs = session.model().inputs;
  std::vector<std::optional<Tensor>> found(inputs.size());
  for (auto &[name, tensor] : *arrays)
    if (auto index = session.model().inputNamed(name))
      found[*index] = std::move(tensor);
    else if (inputs.size() == 1 && arrays->size() == 1)
      found[0] = std::move(tensor);
  std::vector<Tensor> tensors;
  std::vector<TensorSpec> specs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!found[i])
      return usageError("'" + place.archive + "' has no array '" +
                        inputs[i].spec.name + "'");
    specs.push_back(inputs[i].specFor(found[i]->shape()));
    tensors.push_back(std::move(*found[i]));
  }
  if (Result<void> good = checkInputs(specs, tensors); !good)
    return inFile(good.takeError(), place.archive);
  return tensors;
}

Result<std::vector<Tensor>> SampleLoader::load(size_t index) const {
  const SamplePosition &place = places[index];
  if (!place.archive.empty())
    return loadArchive(place);
  InputOptions inputs = options.pictures;
  inputs.inputs = place.inputs;
  Result<std::vector<Tensor>> loaded =
      loadInputs(session, modelPath, inputs, shapes, /*fillRandom=*/false);
  if (loaded ||
      loaded.error().message().find(place.path.string()) != std::string::npos)
    return loaded;
  // Which of several files.
  return inside(options.names.sources + " '" + place.path.string() + "'",
                loaded.takeError());
}

Result<Samples> findSamples(Session &session, const std::string &modelPath,
                            const CalibrationOptions &options,
                            const NamedShapes &shapes) {
  SampleFinder finder(session.model(), options);
  if (session.model().inputs.empty())
    return usageError(modelPath + ": the model has no inputs");
  Result<std::vector<SamplePosition>> places = finder.find();
  if (!places)
    return places.takeError();
  Samples samples;
  Result<std::vector<int64_t>> classes = finder.classesOf(*places);
  if (!classes)
    return classes.takeError();
  samples.count = places->size();
  samples.classes = std::move(*classes);
  for (const SamplePosition &place : *places)
    samples.paths.push_back(place.path.string());
  auto loader = std::make_shared<SampleLoader>(session, modelPath, options,
                                               shapes, std::move(*places));
  samples.load = [loader](size_t index) { return loader->load(index); };
  return samples;
}

} // namespace sinter
