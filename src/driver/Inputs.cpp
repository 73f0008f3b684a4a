//===- Inputs.cpp - tensors for a model's inputs --------------------------===//

#include "driver/Inputs.h"

#include "driver/Text.h"
#include "driver/WrittenNumbers.h"
#include "formats/TestData.h"
#include "runtime/MachineMemory.h"
#include "runtime/MappedFile.h"
#include "runtime/Npy.h"
#include "runtime/Random.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <set>

namespace sinter::driver {

/// An option of a number for each channel.
static void addChannels(CLI::App &app, const std::string &flag,
                        std::vector<double> &numbers, const std::string &what,
                        const std::string &group, bool isDivisor = false) {
  const auto take = [&numbers, flag, isDivisor](const std::string &text) {
    numbers.clear();
    for (const std::string &part : partsOf(text, ',')) {
      double number = 0;
      const char *end = part.data() + part.size();
      const auto [stop, error] = std::from_chars(part.data(), end, number);
      if (error != std::errc() || stop != end || !std::isfinite(number) ||
          (isDivisor && number == 0))
        throw CLI::ValidationError(
            flag, "'" + text + "': a number" + (isDivisor ? " but 0" : "") +
                      ", or one for each channel with commas between, is "
                      "wanted: " +
                      flag + " 0.485,0.456,0.406");
      numbers.push_back(number);
    }
  };
  app.add_option_function<std::string>(flag, take, what)
      ->allow_extra_args(false)
      ->type_name("R,G,B")
      ->group(group);
}

void addPictures(CLI::App &app, InputOptions &options,
                 const std::string &group) {
  addChannels(app, "--mean", options.mean,
              "subtracted from a picture's channels, after --scale", group);
  addChannels(app, "--std", options.std,
              "a picture's channels are divided by it", group,
              /*isDivisor=*/true);
  app.add_option("--scale", options.scale,
                 "takes a picture's 0..255 to the range of --mean (default: "
                 "1/255)")
      ->check(isNumber())
      ->group(group);
  app.add_option("--layout", options.layout, "how pictures lie in memory")
      ->check(CLI::IsMember({"nchw", "nhwc"}, CLI::ignore_case))
      ->default_str("nchw")
      ->group(group);
}

void addInputs(CLI::App &app, InputOptions &options) {
  app.add_option("--input", options.inputs,
                 "an input: .npy, .pb (ONNX tensor), PNG, JPEG, "
                 "random[:SEED] (alone: for all), or numbers, as in rate=16000 "
                 "and sizes=1,3,8; without a name: the inputs in order")
      ->allow_extra_args(false)
      ->type_name("[NAME=]FILE")
      ->group("Input");
  addPictures(app, options, "Input");
}

ImageOptions imageOptions(const InputOptions &options) {
  ImageOptions how;
  if (options.layout)
    how.layout = *options.layout == "nhwc" || *options.layout == "NHWC"
                     ? ImageLayout::Nhwc
                     : ImageLayout::Nchw;
  how.scale = options.scale.value_or(1.0 / 255);
  how.mean = options.mean;
  how.std = options.std;
  return how;
}

Result<std::optional<uint64_t>> randomSeed(const std::string &flag,
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
    return usageError(flag + " '" + text +
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
  return usageError("'" + path +
                    "' is neither .npy, .pb, PNG nor JPEG; numpy.save writes "
                    ".npy");
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
    std::vector<std::string> unnamed;
    for (const std::string &argument : options.inputs) {
      const std::optional<NamedInput> named = namedInput(argument);
      if (!named) {
        unnamed.push_back(argument);
        continue;
      }
      if (taken(named->index))
        return usageError("--input: '" + specs[named->index].name +
                          "' is given twice");
      if (Result<void> done = load(named->index, named->source); !done)
        return done;
    }
    if (Result<void> done = readUnnamed(unnamed); !done)
      return done;
    return checkPictureOptions();
  }

  /// Whether there is something for every input.
  Result<void> checkComplete(bool fillRandom) {
    if (fillRandom && !everySeed)
      everySeed = 0;
    std::vector<size_t> missing;
    for (size_t i = 0; i < specs.size(); ++i) {
      if (tensors[i])
        continue;
      if (!seeds[i])
        seeds[i] = everySeed;
      if (!seeds[i])
        missing.push_back(i);
      else if (model.inputs[i].feedsShapes)
        return usageError("input '" + specs[i].name +
                          "' says how large other tensors are, so random "
                          "numbers make no sense; give it with --input " +
                          specs[i].name + "=FILE");
    }
    return missing.empty() ? Result<void>() : missingError(missing);
  }

  /// Fills the places that random numbers are wanted for. Every input has
  /// numbers of its own.
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

  struct NamedInput {
    size_t index;
    std::string source;
  };

  /// "x=file". Names may have an equals sign, too: the first that is a name.
  std::optional<NamedInput> namedInput(const std::string &argument) const {
    for (size_t sign = argument.find('='); sign != std::string::npos;
         sign = argument.find('=', sign + 1))
      if (const auto index = model.inputNamed(argument.substr(0, sign)))
        return NamedInput{*index, argument.substr(sign + 1)};
    return std::nullopt;
  }

  /// What is for pictures means nothing where none is given.
  Result<void> checkPictureOptions() const {
    if (hasPicture)
      return {};
    for (const auto &[flag, isGiven] :
         {std::pair("--mean", !options.mean.empty()),
          std::pair("--std", !options.std.empty()),
          std::pair("--scale", options.scale.has_value()),
          std::pair("--layout", options.layout.has_value())})
      if (isGiven)
        return usageError(std::string(flag) +
                          " is for pictures, and no --input is one");
    return {};
  }

  Result<void> readUnnamed(const std::vector<std::string> &unnamed) {
    size_t next = 0;
    for (const std::string &argument : unnamed) {
      Result<std::optional<uint64_t>> seed = randomSeed("--input", argument);
      if (!seed)
        return seed.takeError();
      if (*seed) {
        if (everySeed)
          return usageError("--input: random is given twice for all inputs");
        everySeed = *seed;
        continue;
      }
      while (next < specs.size() && taken(next))
        ++next;
      if (Result<void> known = checkName(argument); !known)
        return known;
      if (next == specs.size())
        return usageError("--input '" + argument + "': the model has no more " +
                          "than " + std::to_string(specs.size()) +
                          " inputs: " + quotedList(model.inputNames()));
      if (Result<void> done = load(next, argument); !done)
        return done;
    }
    return {};
  }

  /// "x=file" where there is no input x and no file "x=file".
  Result<void> checkName(const std::string &argument) const {
    const size_t sign = argument.find('=');
    if (sign == std::string::npos || ::access(argument.c_str(), F_OK) == 0)
      return {};
    const std::string name = argument.substr(0, sign);
    const std::vector<std::string> names = model.inputNames();
    return usageError("--input: there is no input '" + name + "'" +
                      suggestion(name, names));
  }

  Result<void> load(size_t index, const std::string &source) {
    Result<std::optional<uint64_t>> seed = randomSeed("--input", source);
    if (!seed)
      return seed.takeError();
    if (*seed) {
      seeds[index] = *seed;
      return {};
    }
    TensorSpec spec = specs[index];
    // A list that may have any number of dimensions has one.
    if (!model.inputs[index].ranked && !hasShape.contains(index) &&
        source.find(',') != std::string::npos)
      spec.shape = {-1};
    Result<Tensor> tensor = readInput(source, spec);
    if (!tensor) {
      // A file that the user names is the user's choice, not a model's flaw.
      Error error = tensor.takeError();
      if (error.kind == ErrorKind::InvalidModel)
        error.kind = ErrorKind::Usage;
      return error;
    }
    const std::vector<TensorSpec> one = {
        hasShape.contains(index)
            ? specs[index]
            : model.inputs[index].specFor(tensor->shape())};
    if (Result<void> fits = checkInputs(one, {&*tensor, 1}); !fits)
      return fits;
    tensors[index] = std::move(*tensor);
    return {};
  }

  Result<Tensor> readInput(const std::string &path, const TensorSpec &spec) {
    if (::access(path.c_str(), F_OK) != 0)
      if (auto numbers = writtenNumbers("--input", path, spec))
        return std::move(*numbers);
    auto file = MappedFile::open(path);
    if (!file)
      return file.takeError();
    const std::span<const std::byte> bytes = (*file)->bytes();
    if (!isImage(bytes))
      return readTensor(path, spec.type);
    hasPicture = true;
    Result<Tensor> image = decodeImage(bytes, path);
    if (!image)
      return image;
    return imageToInput(*image, spec, imageOptions(options));
  }

  Error missingError(const std::vector<size_t> &missing) const {
    std::string list;
    for (size_t index : missing)
      list += (list.empty() ? "" : ", ") + ("'" + specs[index].name + "' ") +
              model.inputs[index].text();
    const bool single = specs.size() == 1;
    return usageError("no input given for " + list + "; use --input " +
                      (single ? "" : specs[missing[0]].name + "=") +
                      "FILE, or --input random");
  }

  const ModelDescription &model;
  const InputOptions &options;
  std::vector<TensorSpec> specs;
  /// The inputs whose shapes the user gave.
  std::set<size_t> hasShape;
  std::vector<std::optional<Tensor>> tensors;
  std::vector<std::optional<uint64_t>> seeds;
  std::optional<uint64_t> everySeed;
  bool hasPicture = false;
};

} // namespace

Result<std::vector<Tensor>> loadInputs(const Session &session,
                                       const std::string &modelPath,
                                       const InputOptions &options,
                                       const NamedShapes &shapes,
                                       bool fillRandom) {
  InputLoader loader(session.model(), options, shapes);
  const auto inModel = [&](Error error) {
    error.message = modelPath + ": " + error.message;
    return error;
  };
  if (Result<void> read = loader.read(); !read)
    return inModel(read.takeError());
  if (Result<void> complete = loader.checkComplete(fillRandom); !complete)
    return inModel(complete.takeError());
  Result<std::vector<Shape>> bound = session.bind(loader.given());
  if (!bound)
    return bound.takeError();
  if (Result<void> filled = loader.fill(*bound); !filled)
    return inModel(filled.takeError());
  return loader.take();
}

Result<ReadySession> openSession(const CommonOptions &common,
                                 const InputOptions &options, bool fillRandom) {
  Result<SessionOptions> wanted = sessionOptions(common);
  if (!wanted)
    return wanted.takeError();
  return openSession(common.model, std::move(*wanted), options, fillRandom);
}

Result<ReadySession> openSession(const std::string &path, SessionOptions wanted,
                                 const InputOptions &options, bool fillRandom) {
  const NamedShapes shapes = wanted.shapes;
  auto session = Session::open(path, std::move(wanted));
  if (!session)
    return session.takeError();
  Result<std::vector<Tensor>> tensors =
      loadInputs(**session, path, options, shapes, fillRandom);
  if (!tensors)
    return tensors.takeError();
  if (Result<void> ready = (*session)->prepare(*tensors); !ready)
    return ready.takeError();
  return ReadySession{std::move(*session), std::move(*tensors)};
}

} // namespace sinter::driver
