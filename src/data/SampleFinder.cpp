#include "data/SampleFinder.h"

#include "data/Feeds.h"
#include "runtime/MappedFile.h"
#include "runtime/Npy.h"
#include "runtime/Npz.h"
#include "runtime/Wav.h"

#include <algorithm>
#include <unistd.h>

namespace sinter {

namespace fs = std::filesystem;

static bool isArrayFile(const fs::path &path) {
  return path.extension() == ".npy" || path.extension() == ".pb" ||
         path.extension() == ".npz";
}

/// Whether it is an image, or audio.
static bool isPictureFile(const fs::path &path) {
  if (isNamedAsPicture(path.string()))
    return true;
  auto file = MappedFile::open(path.string());
  return file && (isImage((*file)->bytes()) || isWav((*file)->bytes()));
}

SampleFinder::SampleFinder(const ModelDescription &model,
                           const std::vector<ModelInput> &inputs,
                           const SampleOptions &options)
    : model(model), inputs(inputs), options(options), isFixed(inputs.size()),
      isNamed(inputs.size()) {
  for (const size_t index : namedInputs(model, options.pictures.inputs))
    isFixed[index] = true;
  for (const auto &[name, tensor] : options.pictures.tensors)
    if (const std::optional<size_t> index = model.inputNamed(name))
      isFixed[*index] = true;
  for (const std::string &name : zeroInputs(model, options.pictures.zeros))
    if (const std::optional<size_t> index = model.inputNamed(name))
      isFixed[*index] = true;
  for (const size_t index : namedInputs(model, options.sources))
    isFixed[index] = false;
  batch = batchOf(inputs, varying());
}

std::vector<size_t> SampleFinder::varying() const {
  std::vector<size_t> all;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!isFixed[i])
      all.push_back(i);
  return all;
}

Error SampleFinder::severalInputs(const std::string &source) const {
  return usageError(
      what() + " '" + source + "': the model has " +
      std::to_string(wanted.size()) +
      " inputs; give a folder with a sub-folder a sample (input_0.pb, ... or "
      "NAME.npy in each), or an .npz with an array an input");
}

//===----------------------------------------------------------------------===//
// Folders
//===----------------------------------------------------------------------===//

Result<std::vector<fs::path>>
SampleFinder::entriesOf(const fs::path &folder) const {
  std::error_code error;
  std::vector<fs::path> entries;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (!entry->path().filename().string().starts_with("."))
      entries.push_back(entry->path());
  if (error)
    return systemError(what() + ": cannot read the folder '" + folder.string() +
                       "': " + error.message());
  std::ranges::sort(entries);
  return entries;
}

/// \p path as it is called in the folder \p root.
static std::string nameIn(const fs::path &root, const fs::path &path) {
  const std::string name = path.lexically_relative(root).string();
  return root.empty() || name.empty() || name == "." ? path.string() : name;
}

void SampleFinder::takeFile(const fs::path &file,
                            const std::string &classText) {
  SamplePosition place;
  place.path = file;
  place.name = nameIn(root, file);
  place.classText = classText;
  if (file.extension() == ".npz")
    place.archive = {file.string(), wanted};
  else
    place.inputs = {inputs[wanted.front()].spec.name + "=" + file.string()};
  places.push_back(std::move(place));
}

/// A folder with a file for each input is a sample.
bool SampleFinder::takeFolder(const fs::path &folder) {
  SamplePosition place;
  place.path = folder;
  place.name = nameIn(root, folder);
  std::error_code ignored;
  for (const size_t input : wanted) {
    const std::string &name = inputs[input].spec.name;
    fs::path file = folder / ("input_" + std::to_string(input) + ".pb");
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
  const bool isSingle = wanted.size() == 1;
  const bool isOneSample =
      !isSingle || fs::exists(folder / "input_0.pb", unknown);
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
      if (!isClass && isSingle)
        if (Result<void> done = lookIntoFolder(entry, /*isClass=*/true); !done)
          return done;
      continue;
    }
    if (entry.extension() == ".npz" ||
        (isSingle && (isArrayFile(entry) || isPictureFile(entry))))
      takeFile(entry, isClass ? folder.filename().string() : "");
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Arrays of several samples
//===----------------------------------------------------------------------===//

/// Takes the samples of \p arrays; whether they are any number of them. If not,
/// takes the arrays as one, unless \p areOne: then that is the source itself.
Result<bool> SampleFinder::takeRows(SampleArrays arrays,
                                    const std::string &name, bool areOne) {
  std::optional<int64_t> count;
  for (SampleArrays::Array &array : arrays.arrays) {
    Result<std::optional<SampleRows>> rows =
        rowsIn(array.tensor, inputs[array.input],
               {.hasBatch = batch.has(array.input), .asRows = options.asRows});
    if (!rows)
      return inside(what() + " '" + name + "'", rows.takeError());
    array.rows = std::move(*rows);
    if (!array.rows)
      continue;
    if (count && *count != array.rows->count)
      return usageError(what() + " '" + name + "': its arrays have " +
                        std::to_string(*count) + " and " +
                        std::to_string(array.rows->count) + " samples");
    count = array.rows->count;
  }
  if (!count && areOne)
    return false;
  const auto shared = std::make_shared<const SampleArrays>(std::move(arrays));
  for (int64_t row = 0; row < count.value_or(1); ++row) {
    SamplePosition place;
    place.arrays = {{shared, static_cast<size_t>(row)}};
    place.path = name;
    place.name = count ? name + "[" + std::to_string(row) + "]" : name;
    places.push_back(std::move(place));
  }
  return true;
}

Result<void> SampleFinder::takeArrays(const std::string &source) {
  // What cannot be read is an error of the sample.
  Result<Tensor> array = readNpy(source);
  bool areSeveral = false;
  if (array) {
    const size_t input = wanted.front();
    SampleArrays all;
    all.arrays.push_back(
        {input, asStored(std::move(*array), inputs[input].spec.type), {}});
    Result<bool> taken = takeRows(std::move(all), source, /*areOne=*/true);
    if (!taken)
      return taken.takeError();
    areSeveral = *taken;
  }
  if (!areSeveral)
    takeFile(source, "");
  return {};
}

std::optional<size_t> inputOfArray(const ModelDescription &model,
                                   const std::vector<size_t> &wanted,
                                   const std::string &name, size_t count) {
  const std::optional<size_t> index = model.inputNamed(name);
  return !index && wanted.size() == 1 && count == 1 ? wanted.front() : index;
}

Result<void> SampleFinder::takeArchive(const std::string &source) {
  auto arrays = readNpz(source);
  if (!arrays)
    return inside(what(), arrays.takeError());
  SampleArrays all;
  for (const size_t input : wanted) {
    auto own = std::ranges::find_if(*arrays, [&](const auto &array) {
      return inputOfArray(model, wanted, array.first, arrays->size()) == input;
    });
    if (own == arrays->end())
      return usageError(what() + " '" + source + "' has no array '" +
                        inputs[input].spec.name + "'");
    all.arrays.push_back(
        {input, asStored(own->second, inputs[input].spec.type), {}});
  }
  Result<bool> taken = takeRows(std::move(all), source, /*areOne=*/true);
  if (!taken)
    return taken.takeError();
  if (!*taken)
    takeFile(source, "");
  return {};
}

//===----------------------------------------------------------------------===//
// Lists and standard input
//===----------------------------------------------------------------------===//

Result<void> SampleFinder::takeLine(const ListedSample &line,
                                    const std::string &folder) {
  SamplePosition place;
  std::error_code ignored;
  for (const std::string &field : line.fields) {
    std::optional<NamedInput> named = namedInput(model, field);
    if (named && std::ranges::find(wanted, named->index) == wanted.end())
      named.reset();
    if (!named && !place.path.empty()) {
      place.classText = field;
      continue;
    }
    const std::string path = listedPath(named ? named->source : field, folder);
    if (place.path.empty()) {
      place.path = path;
      place.name = path;
    }
    if (named) {
      place.inputs.push_back(inputs[named->index].spec.name + "=" + path);
    } else if (fs::is_directory(path, ignored)) {
      if (!takeFolder(path))
        return usageError(what() + ": the folder '" + path +
                          "' of a list is no sample: it has no file for each "
                          "input");
      place.inputs = places.back().inputs;
      places.pop_back();
    } else if (path.ends_with(".npz")) {
      place.archive = {path, wanted};
    } else if (wanted.size() == 1) {
      place.inputs = {inputs[wanted.front()].spec.name + "=" + path};
    } else {
      return severalInputs(path);
    }
  }
  places.push_back(std::move(place));
  return {};
}

Result<void> SampleFinder::lookIntoList(const std::string &source) {
  constexpr size_t longest = size_t(1) << 30;
  const std::string path = source.starts_with("@") ? source.substr(1) : source;
  Result<std::string> text = readFile(path, longest);
  if (!text)
    return inside(what(), text.takeError());
  const std::vector<ListedSample> lines = listedSamples(*text);
  if (lines.empty())
    return usageError(what() + ": the list '" + path + "' is empty");
  const std::string folder = fs::path(path).parent_path().string();
  for (const ListedSample &line : lines)
    if (Result<void> done = takeLine(line, folder); !done)
      return inFile(done.takeError(), path);
  return {};
}

/// Whether to wait for the next sample: of a part, only for the first one.
bool SampleFinder::takesMore(const PipedSamples &piped) const {
  return !piped.hasEnded &&
         (!options.piped || places.empty() ||
          (places.size() < PipedSamples::most && piped.stream.isReady()));
}

Result<void> SampleFinder::takeArraysOf(PipedSamples &piped) {
  for (; takesMore(piped); ++piped.taken) {
    SampleArrays all;
    for (const size_t input : wanted) {
      Result<std::optional<Tensor>> array = piped.stream.array();
      if (!array)
        return inside(what(), array.takeError());
      if (!*array && all.arrays.empty()) {
        piped.hasEnded = true;
        return {};
      }
      if (!*array)
        return usageError(what() +
                          " -: the last sample has no array for input '" +
                          inputs[input].spec.name + "'");
      all.arrays.push_back(
          {input, asStored(std::move(**array), inputs[input].spec.type), {}});
    }
    Result<bool> taken =
        takeRows(std::move(all), "stdin[" + std::to_string(piped.taken) + "]",
                 /*areOne=*/false);
    if (!taken)
      return taken.takeError();
  }
  return {};
}

Result<void> SampleFinder::takeLinesOf(PipedSamples &piped) {
  while (takesMore(piped)) {
    Result<std::optional<std::string>> line = piped.stream.line();
    if (!line)
      return inside(what(), line.takeError());
    piped.hasEnded = !*line;
    if (piped.hasEnded)
      return {};
    for (const ListedSample &sample : listedSamples(**line)) {
      if (Result<void> done = takeLine(sample, ""); !done)
        return inFile(done.takeError(), "standard input");
      ++piped.taken;
    }
  }
  return {};
}

Result<void> SampleFinder::lookIntoStandardInput() {
  PipedSamples whole;
  PipedSamples &piped = options.piped ? *options.piped : whole;
  if (piped.taken == 0) {
    Result<bool> holdsArrays = piped.stream.holdsArrays();
    if (!holdsArrays)
      return inside(what(), holdsArrays.takeError());
    piped.areArrays = *holdsArrays;
  }
  return piped.areArrays ? takeArraysOf(piped) : takeLinesOf(piped);
}

//===----------------------------------------------------------------------===//
// All sources
//===----------------------------------------------------------------------===//

void SampleFinder::takeRandom(uint64_t seed) {
  constexpr uint64_t randomSamples = 10;
  for (uint64_t i = 0; i < randomSamples; ++i) {
    SamplePosition place;
    const std::string drawn = "random:" + std::to_string(seed + i);
    const bool isForOne = isNamed[wanted.front()];
    place.inputs = {isForOne ? inputs[wanted.front()].spec.name + "=" + drawn
                             : drawn};
    place.path = place.name = drawn;
    places.push_back(std::move(place));
  }
}

/// Takes what a pattern matches.
Result<void> SampleFinder::takeMatch(const std::string &path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored))
    return takeLine({{path}}, "");
  if (takeFolder(path))
    return {};
  return wanted.size() == 1 ? lookIntoFolder(path, /*isClass=*/true)
                            : Result<void>(severalInputs(path));
}

Result<void> SampleFinder::lookIntoFile(const std::string &source) {
  std::error_code ignored;
  if (!fs::exists(source, ignored))
    return systemError(what() + ": there is no '" + source + "'");
  if (source.ends_with(".npz"))
    return takeArchive(source);
  if (wanted.size() != 1)
    return severalInputs(source);
  if (source.ends_with(".npy"))
    return takeArrays(source);
  takeFile(source, "");
  return {};
}

/// The samples of one source, for the wanted inputs.
Result<std::vector<SamplePosition>>
SampleFinder::lookInto(const std::string &source) {
  places.clear();
  root.clear();
  Result<std::optional<uint64_t>> seed = randomSeed(what(), source);
  if (!seed)
    return seed.takeError();
  Result<void> done;
  const SampleSourceKind kind = kindOfSource(source);
  if (*seed) {
    takeRandom(**seed);
  } else if (kind == SampleSourceKind::Folder) {
    root = source;
    done = lookIntoFolder(source, /*isClass=*/false);
  } else if (kind == SampleSourceKind::List) {
    done = lookIntoList(source);
  } else if (kind == SampleSourceKind::StandardInput) {
    done = lookIntoStandardInput();
  } else if (kind == SampleSourceKind::Pattern) {
    Result<std::vector<std::string>> paths = filesMatching(what(), source);
    if (!paths)
      return paths.takeError();
    for (const std::string &path : *paths)
      if (done = takeMatch(path); !done)
        return done.takeError();
  } else {
    done = lookIntoFile(source);
  }
  if (!done)
    return done.takeError();
  if (!places.empty() || (options.piped && options.piped->taken > 0))
    return std::move(places);
  if (kind != SampleSourceKind::Folder)
    return usageError(what() + " '" + source + "': there is no sample in it");
  return usageError(
      what() + " '" + source + "': no sample is in this folder: " +
      (wanted.size() == 1
           ? "neither .npy, .pb, .npz, WAV nor image files (" +
                 std::string(imageKinds) + "), nor folders of such"
           : "no sub-folder with input_0.pb, ... or NAME.npy for each of the " +
                 std::to_string(wanted.size()) + " inputs, and no .npz"));
}

/// Each sample of \p unnamed, with the file of the same number for each of the
/// inputs in \p named.
Result<std::vector<SamplePosition>>
SampleFinder::merged(Positions unnamed,
                     std::map<size_t, Positions> named) const {
  Positions all = std::move(unnamed);
  for (auto &[input, own] : named) {
    if (all.empty()) {
      all = std::move(own);
      continue;
    }
    if (own.size() != all.size())
      return usageError(what() + ": there are " + std::to_string(own.size()) +
                        " samples for input '" + inputs[input].spec.name +
                        "', and " + std::to_string(all.size()) + " for others");
    for (size_t i = 0; i < all.size(); ++i) {
      if (!own[i].archive.path.empty() || !all[i].archive.path.empty())
        return usageError(what() + " '" + own[i].name +
                          "': an .npz has the arrays of all inputs, so there "
                          "is none for one of them");
      all[i].inputs.insert(all[i].inputs.end(), own[i].inputs.begin(),
                           own[i].inputs.end());
      all[i].arrays.insert(all[i].arrays.end(), own[i].arrays.begin(),
                           own[i].arrays.end());
    }
  }
  return all;
}

Result<std::vector<SamplePosition>> SampleFinder::find() {
  Positions unnamed;
  std::map<size_t, Positions> named;
  std::vector<std::string> others;
  const auto append = [](Positions &to, Positions more) {
    to.insert(to.end(), std::make_move_iterator(more.begin()),
              std::make_move_iterator(more.end()));
  };
  for (const std::string &source : options.sources) {
    std::optional<NamedInput> one = namedInput(model, source);
    if (!one) {
      others.push_back(source);
      continue;
    }
    if (isFixed[one->index])
      return usageError(what() + ": '" + inputs[one->index].spec.name +
                        "' is given twice");
    isNamed[one->index] = true;
    wanted = {one->index};
    Result<Positions> found = lookInto(one->source);
    if (!found)
      return found;
    append(named[one->index], std::move(*found));
  }
  wanted.clear();
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!isFixed[i] && !isNamed[i])
      wanted.push_back(i);
  if (!others.empty() && wanted.empty())
    return usageError(what() + " '" + others.front() +
                      "': every input is given already");
  for (const std::string &source : others) {
    Result<Positions> found = lookInto(source);
    if (!found)
      return found;
    append(unnamed, std::move(*found));
  }
  Result<Positions> all = merged(std::move(unnamed), std::move(named));
  if (!all || options.most == 0 || all->size() <= options.most)
    return all;
  Positions some;
  for (size_t i = 0; i < options.most; ++i)
    some.push_back(std::move((*all)[i * all->size() / options.most]));
  return some;
}

} // namespace sinter
