//===- Inputs.cpp - tensors for a model's inputs --------------------------===//

#include "data/Inputs.h"

#include "data/Feeds.h"

#include "data/SampleFiles.h"
#include "data/WrittenNumbers.h"
#include "data/WrittenStrings.h"
#include "formats/TestData.h"
#include "runtime/MachineMemory.h"
#include "runtime/MappedFile.h"
#include "runtime/Npy.h"
#include "runtime/OptionNames.h"
#include "runtime/Random.h"
#include "runtime/Suggestions.h"
#include "runtime/Text.h"
#include "runtime/Wav.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace sinter {

Result<Preprocessing> preprocessingFor(const ModelDescription &model,
                                       const InputOptions &options) {
  Result<Preprocessing> kept = preprocessingOf(model);
  if (!kept || isEmpty(*kept))
    return kept ? combined(options.preprocessing, {}) : std::move(kept);
  if (options.note)
    options.note("pre-processing of the model: " + describe(*kept));
  return combined(options.preprocessing, *kept);
}

std::optional<Result<Tensor>> mediaToInput(std::span<const std::byte> bytes,
                                           const std::string &path,
                                           const TensorSpec &spec,
                                           const Preprocessing &preprocessing) {
  if (isImage(bytes)) {
    Result<Tensor> image = decodeImage(bytes, path);
    return image ? imageToInput(*image, spec, imageOptions(preprocessing))
                 : std::move(image);
  }
  if (!isWav(bytes))
    return std::nullopt;
  Result<Audio> audio = decodeWav(bytes, path);
  if (!audio)
    return audio.takeError();
  return audioToInput(std::move(*audio), spec, preprocessing.rate);
}

Result<std::optional<uint64_t>> randomSeed(const std::string &what,
                                           const std::string &text) {
  constexpr std::string_view prefix = "random:";
  uint64_t seed = 0;
  if (text == "random")
    return std::optional<uint64_t>(seed);
  if (!text.starts_with(prefix))
    return std::optional<uint64_t>();
  const char *end = text.data() + text.size();
  const auto [stop, error] =
      std::from_chars(text.data() + prefix.size(), end, seed);
  if (error != std::errc() || stop != end)
    return usageError(what + " '" + text +
                      "': expected a number from 0 to 2^64 - 1 after "
                      "'random:'; a file of that name is ./" +
                      text);
  return std::optional<uint64_t>(seed);
}

Result<Tensor> readTensor(const std::string &path, ElementType type) {
  auto file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  if ((*file)->text().starts_with("\x93NUMPY")) {
    Result<Tensor> array = parseNpy((*file)->bytes(), *file, path);
    return array ? asStored(std::move(*array), type) : std::move(array);
  }
  if (path.ends_with(".pb"))
    return readTestTensor(path);
  const std::string what = "'" + path +
                           "' is neither .npy, .pb, WAV nor an image (" +
                           imageKinds + "); numpy.save writes .npy";
  return systemError(what);
}

namespace {

class InputLoader {
public:
  InputLoader(const ModelDescription &model, const InputOptions &options,
              const NamedShapes &shapes)
      : model(model), options(options), tensors(model.inputs.size()),
        seeds(model.inputs.size()) {
    for (const ModelInput &input : model.inputs)
      specs.push_back(input.spec);
    for (const auto &[name, shape] : shapes)
      if (const std::optional<size_t> index = model.inputNamed(name);
          index && (!model.inputs[*index].ranked ||
                    shape.size() == specs[*index].shape.size())) {
        specs[*index].shape = shape;
        hasShape.insert(*index);
      }
  }

  /// Sorts the arguments by input and reads the files.
  Result<void> read() {
    for (const auto &[name, tensor] : options.tensors)
      if (const std::optional<size_t> index = model.inputNamed(name))
        if (Result<void> done = take(*index, tensor); !done)
          return done;
    std::vector<std::string> unnamed;
    for (const std::string &argument : options.inputs) {
      const std::optional<NamedInput> named = namedInput(model, argument);
      if (!named) {
        unnamed.push_back(argument);
        continue;
      }
      if (taken(named->index))
        return usageError(names().inputs + ": '" + specs[named->index].name +
                          "' is given twice");
      if (Result<void> done = load(named->index, named->source); !done)
        return done;
    }
    if (Result<void> done = readUnnamed(unnamed); !done)
      return done;
    return checkPictureOptions();
  }

  /// Whether every input has a tensor.
  Result<void> checkComplete(bool fillRandom) {
    if (fillRandom && !everySeed)
      everySeed = 0;
    std::vector<size_t> missing;
    const std::vector<std::string> zeros = zeroInputs(model, options.zeros);
    for (size_t i = 0; i < specs.size(); ++i) {
      if (tensors[i])
        continue;
      if (!seeds[i] && std::ranges::find(zeros, specs[i].name) != zeros.end())
        continue;
      if (!seeds[i])
        seeds[i] = everySeed;
      if (!seeds[i])
        missing.push_back(i);
      else if (model.inputs[i].feedsShapes)
        return usageError("input '" + specs[i].name +
                          "' sets the sizes of other tensors, so random "
                          "values make no sense; give it with " +
                          names().inputs + " " + specs[i].name + "=FILE");
    }
    return missing.empty() ? Result<void>() : missingError(missing);
  }

  /// Fills the random inputs, each from its own random stream, and those of
  /// zeros.
  Result<void> fill(const std::vector<Shape> &shapes) {
    uint64_t left = memoryOfMachine();
    for (size_t i = 0; i < specs.size(); ++i) {
      if (tensors[i])
        continue;
      const uint64_t bytes = byteCount(specs[i].type, shapes[i]).value_or(0);
      if (bytes > left)
        return systemError("input '" + specs[i].name + "', " +
                           toString(specs[i].type, shapes[i]) + ", takes " +
                           inGigabytes(bytes) + "; this machine has " +
                           inGigabytes(memoryOfMachine()) + " of memory");
      left -= bytes;
      Tensor tensor(specs[i].type, shapes[i]);
      if (seeds[i])
        fillRandom(tensor, splitMix(*seeds[i], i));
      tensors[i] = std::move(tensor);
    }
    return {};
  }

  const std::vector<std::optional<Tensor>> &given() const { return tensors; }
  std::vector<Tensor> take() {
    std::vector<Tensor> all;
    for (std::optional<Tensor> &tensor : tensors)
      all.push_back(std::move(*tensor));
    return all;
  }

private:
  bool taken(size_t index) const { return tensors[index] || seeds[index]; }
  const InputNames &names() const { return options.names; }

  /// Options for images and audio are an error without such an input.
  Result<void> checkPictureOptions() const {
    for (const PreprocessingOption &option : preprocessingOptions()) {
      const bool isUsed = option.isForAudio ? hasAudio : hasPicture;
      if (!isUsed && !option.get(options.preprocessing).empty())
        return usageError(optionText(option.name) + " is for " +
                          (option.isForAudio ? "audio" : "images") +
                          ", and no " + names().inputs + " is one");
    }
    return {};
  }

  Result<void> readUnnamed(const std::vector<std::string> &unnamed) {
    size_t next = 0;
    for (const std::string &argument : unnamed) {
      Result<std::optional<uint64_t>> seed =
          randomSeed(names().inputs, argument);
      if (!seed)
        return seed.takeError();
      if (*seed) {
        if (everySeed)
          return usageError(names().inputs +
                            ": random is given twice for all inputs");
        everySeed = *seed;
        continue;
      }
      while (next < specs.size() && taken(next))
        ++next;
      if (Result<void> known = checkName(argument); !known)
        return known;
      if (next == specs.size())
        return usageError(names().inputs + " '" + argument +
                          "': the model has no more " + "than " +
                          std::to_string(specs.size()) +
                          " inputs: " + quotedList(model.inputNames()));
      if (Result<void> done = load(next, argument); !done)
        return done;
    }
    return {};
  }

  /// "x=file" if there is no input x and no file "x=file".
  Result<void> checkName(const std::string &argument) const {
    const size_t sign = argument.find('=');
    if (sign == std::string::npos || ::access(argument.c_str(), F_OK) == 0)
      return {};
    const std::string name = argument.substr(0, sign);
    const std::vector<std::string> names = model.inputNames();
    return withHint(suggestion(name, names),
                    usageError(options.names.inputs + ": there is no input '" +
                               name + "'"));
  }

  Result<void> load(size_t index, const std::string &source) {
    Result<std::optional<uint64_t>> seed = randomSeed(names().inputs, source);
    if (!seed)
      return seed.takeError();
    if (*seed) {
      seeds[index] = *seed;
      return {};
    }
    TensorSpec spec = specs[index];
    // A dynamic rank becomes one dimension.
    if (!model.inputs[index].ranked && !hasShape.contains(index) &&
        source.find(',') != std::string::npos)
      spec.shape = {-1};
    const auto inSource = [&](Error error) {
      return inFile(std::move(error), source);
    };
    Result<Tensor> tensor = readInput(source, spec);
    if (!tensor)
      return inSource(tensor.takeError());
    if (Result<void> fits = take(index, std::move(*tensor)); !fits)
      return inSource(fits.takeError());
    return {};
  }

  /// Makes \p tensor that of input \p index, if it fits.
  Result<void> take(size_t index, Tensor tensor) {
    const std::vector<TensorSpec> one = {
        hasShape.contains(index) ? specs[index]
                                 : model.inputs[index].specFor(tensor.shape())};
    if (Result<void> fits = checkInputs(one, {&tensor, 1}); !fits)
      return fits;
    tensors[index] = std::move(tensor);
    return {};
  }

  Result<Tensor> readInput(const std::string &path, const TensorSpec &spec) {
    if (::access(path.c_str(), F_OK) != 0 && isString(spec.type))
      return writtenStrings(names().inputs, path, spec);
    if (::access(path.c_str(), F_OK) != 0)
      if (auto numbers = writtenNumbers(names().inputs, path, spec))
        return std::move(*numbers);
    auto file = MappedFile::open(path);
    if (!file)
      return file.takeError();
    const std::span<const std::byte> bytes = (*file)->bytes();
    const bool isPicture = isImage(bytes);
    if (!isPicture && !isWav(bytes))
      return readTensor(path, spec.type);
    (isPicture ? hasPicture : hasAudio) = true;
    if (!preprocessing) {
      Result<Preprocessing> known = preprocessingFor(model, options);
      if (!known)
        return known.takeError();
      preprocessing = std::move(*known);
    }
    return *mediaToInput(bytes, path, spec, *preprocessing);
  }

  Error missingError(const std::vector<size_t> &missing) const {
    std::string list;
    for (size_t index : missing)
      list += (list.empty() ? "" : ", ") + ("'" + specs[index].name + "' ") +
              model.inputs[index].text();
    const bool single = specs.size() == 1;
    return usageError("no input given for " + list + "; use " + names().inputs +
                      " " + (single ? "" : specs[missing[0]].name + "=") +
                      "FILE, or " + names().inputs + " random");
  }

  const ModelDescription &model;
  const InputOptions &options;
  std::vector<TensorSpec> specs;
  /// The inputs whose shapes the user gave.
  std::set<size_t> hasShape;
  std::vector<std::optional<Tensor>> tensors;
  std::vector<std::optional<uint64_t>> seeds;
  std::optional<uint64_t> everySeed;
  bool hasPicture = false, hasAudio = false;
  /// Once it is needed.
  std::optional<Preprocessing> preprocessing;
};

} // namespace

std::optional<NamedInput> namedInput(const ModelDescription &model,
                                     const std::string &argument) {
  // Names may contain an equals sign: the first prefix that is an input.
  for (size_t sign = argument.find('='); sign != std::string::npos;
       sign = argument.find('=', sign + 1))
    if (const auto index = model.inputNamed(argument.substr(0, sign)))
      return NamedInput{*index, argument.substr(sign + 1)};
  return std::nullopt;
}

std::set<size_t> namedInputs(const ModelDescription &model,
                             const std::vector<std::string> &arguments) {
  std::set<size_t> indices;
  for (const std::string &argument : arguments)
    if (const std::optional<NamedInput> named = namedInput(model, argument))
      indices.insert(named->index);
  return indices;
}

/// The inputs that \p loader reads, of the sizes that \p bind gives.
static Result<std::vector<Tensor>>
loadedBy(InputLoader &loader, const std::string &modelPath, bool fillRandom,
         const std::function<Result<std::vector<Shape>>()> &bind) {
  const auto inModel = [&](Error error) {
    return inFile(std::move(error), modelPath);
  };
  if (Result<void> read = loader.read(); !read)
    return inModel(read.takeError());
  if (Result<void> complete = loader.checkComplete(fillRandom); !complete)
    return inModel(complete.takeError());
  Result<std::vector<Shape>> bound = bind();
  if (!bound)
    return bound.takeError();
  if (Result<void> filled = loader.fill(*bound); !filled)
    return inModel(filled.takeError());
  return loader.take();
}

Result<std::vector<Tensor>> loadInputs(const Session &session,
                                       const std::string &modelPath,
                                       const InputOptions &options,
                                       const NamedShapes &shapes,
                                       bool fillRandom) {
  InputLoader loader(session.model(), options, shapes);
  return loadedBy(loader, modelPath, fillRandom,
                  [&] { return session.bind(loader.given()); });
}

Result<std::vector<Tensor>> loadInputs(const ModelDescription &model,
                                       const std::string &modelPath,
                                       const InputOptions &options,
                                       const NamedShapes &shapes) {
  InputLoader loader(model, options, shapes);
  return loadedBy(loader, modelPath, /*fillRandom=*/false,
                  [&]() -> Result<std::vector<Shape>> {
                    auto bound = bindShapes(model, shapes, loader.given(), {});
                    return bound ? std::move(bound)
                                 : inFile(bound.takeError(), modelPath);
                  });
}

Result<std::vector<SampleSizes>> sizesToCheck(Session &session,
                                              const std::string &modelPath,
                                              const InputOptions &options,
                                              const NamedShapes &shapes,
                                              const AllowsShapes &alsoAllows) {
  InputLoader loader(session.model(), options, shapes);
  if (Result<void> read = loader.read(); !read)
    return inFile(read.takeError(), modelPath);
  return session.sizesToCheck(loader.given(), alsoAllows);
}

/// The inputs with a default value that the user provides.
static std::vector<std::string> givenDefaults(const ModelDescription &model,
                                              const InputOptions &options) {
  std::vector<std::string> names;
  for (const ModelInput &input : model.defaults)
    if (std::ranges::any_of(options.inputs, [&](const std::string &argument) {
          return argument.starts_with(input.spec.name + "=");
        }))
      names.push_back(input.spec.name);
  return names;
}

Result<std::unique_ptr<Session>> openWithDefaults(const std::string &path,
                                                  SessionOptions wanted,
                                                  const InputOptions &options) {
  auto session = Session::open(path, wanted);
  if (!session)
    return session;
  wanted.replacedDefaults = givenDefaults((*session)->model(), options);
  if (wanted.replacedDefaults.empty())
    return session;
  return Session::open(path, std::move(wanted));
}

Result<ReadySession> openSession(const std::string &path, SessionOptions wanted,
                                 const InputOptions &options, bool fillRandom) {
  const NamedShapes shapes = wanted.shapes;
  auto session = openWithDefaults(path, std::move(wanted), options);
  if (!session)
    return session.takeError();
  return readySession(std::move(*session), path, options, shapes, fillRandom);
}

Result<ReadySession> readySession(std::shared_ptr<Session> session,
                                  const std::string &path,
                                  const InputOptions &options,
                                  const NamedShapes &shapes, bool fillRandom) {
  Result<std::vector<Tensor>> tensors =
      loadInputs(*session, path, options, shapes, fillRandom);
  if (!tensors)
    return tensors.takeError();
  if (Result<void> ready = session->prepare(*tensors); !ready)
    return ready.takeError();
  return ReadySession{std::move(session), std::move(*tensors)};
}

} // namespace sinter
