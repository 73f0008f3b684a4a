//===- TrainingDataLoader.cpp - training samples from any source ----------===//

#include "data/TrainingDataLoader.h"

#include "data/Labels.h"
#include "runtime/Idx.h"
#include "runtime/MappedFile.h"
#include "runtime/Npy.h"
#include "runtime/Npz.h"
#include "runtime/OptionNames.h"
#include "runtime/Text.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <set>

namespace sinter {

namespace fs = std::filesystem;

Tensor rowsOf(const Tensor &tensor, std::span<const size_t> numbers) {
  Shape shape = tensor.shape();
  shape[0] = static_cast<int64_t>(numbers.size());
  Tensor rows(tensor.type(), shape);
  const size_t bytes =
      tensor.dim(0) == 0 ? 0
                         : tensor.bytes() / static_cast<size_t>(tensor.dim(0));
  for (size_t i = 0; i < numbers.size(); ++i)
    std::copy_n(tensor.data() + numbers[i] * bytes, bytes,
                rows.mutableBytes() + i * bytes);
  return rows;
}

Result<std::vector<Tensor>>
stacked(size_t count,
        const std::function<Result<std::vector<Tensor>>(size_t)> &sample,
        const std::string &where, const TrainingDataNames &names) {
  std::vector<Tensor> all;
  for (size_t number = 0; number < count; ++number) {
    Result<std::vector<Tensor>> one = sample(number);
    if (!one)
      return one.takeError();
    for (size_t i = 0; i < one->size(); ++i) {
      const Tensor &each = (*one)[i];
      if (each.rank() == 0 || each.dim(0) != 1)
        return usageError(where + ": a sample has the shape " +
                          toString(each.type(), each.shape()) +
                          "; the first dimension counts samples and is 1");
      if (number == 0) {
        Shape shape = each.shape();
        shape[0] = static_cast<int64_t>(count);
        if (!byteCount(each.type(), shape))
          return usageError(where + ": the samples are too large together");
        all.emplace_back(each.type(), shape);
      }
      if (each.bytes() * count != all[i].bytes())
        return usageError(where + ": samples differ in size; " + names.resize +
                          " or " + names.shapes +
                          " says which one all are to have");
      std::copy_n(each.data(), each.bytes(),
                  all[i].mutableBytes() + number * each.bytes());
    }
  }
  return all;
}

/// Whether the samples of \p array fit the input, whatever their number.
Result<void> TrainingDataLoader::checkArray(const std::string &name,
                                            const Tensor &array,
                                            const ModelInput &input) const {
  bool fits = array.rank() > 0 && array.type() == input.spec.type;
  if (fits && input.ranked) {
    fits = array.rank() == static_cast<int64_t>(input.spec.shape.size());
    for (int64_t i = 1; fits && i < array.rank(); ++i)
      fits = input.sizesAreHints || input.spec.shape[i] < 0 ||
             input.spec.shape[i] == array.dim(i);
  }
  if (fits)
    return {};
  return usageError(where() + ": the array '" + name + "' is a " +
                    toString(array.type(), array.shape()) +
                    "; a number of samples of the input, " +
                    toString(input.spec.type, input.spec.shape) +
                    ", is expected");
}

Result<void> TrainingDataLoader::fromArchive() {
  Result<NamedTensors> arrays = readNpz(options.source);
  if (!arrays)
    return inside(options.names.source, arrays.takeError());
  return fromArrays(*arrays);
}

Result<void> TrainingDataLoader::fromArrays(const NamedTensors &arrays) {
  auto find = [&](const std::string &name) -> const Tensor * {
    for (const auto &[its, tensor] : arrays)
      if (its == name)
        return &tensor;
    return nullptr;
  };
  auto missing = [&](const std::string &name) {
    std::string names;
    for (const auto &[its, tensor] : arrays)
      names += (names.empty() ? "" : ", ") + its;
    return usageError(where() + ": there is no array '" + name +
                      "'; it holds " + (names.empty() ? "nothing" : names));
  };
  for (const ModelInput &input : session.model().inputs) {
    const Tensor *array = find(input.spec.name);
    for (size_t i = 0; !array && i < input.otherNames.size(); ++i)
      array = find(input.otherNames[i]);
    if (!array)
      return missing(input.spec.name);
    Tensor stored = asStored(*array, input.spec.type);
    if (Result<void> good = checkArray(input.spec.name, stored, input); !good)
      return good;
    inputs.push_back(std::move(stored));
  }
  std::vector<const TensorSpec *> outputs;
  for (const TargetArray &wanted : options.targets) {
    const Tensor *target = find(wanted.name);
    if (!target)
      target = find(wanted.otherName);
    if (!target)
      return missing(wanted.name);
    if (target->rank() == 0)
      return usageError(
          where() + ": the array '" + wanted.name +
          "' is a scalar; it needs one or more values per sample");
    for (const Tensor &input : inputs)
      if (input.dim(0) != target->dim(0))
        return usageError(where() + ": there are " +
                          std::to_string(input.dim(0)) + " samples and " +
                          std::to_string(target->dim(0)) + " targets");
    targets.push_back(*target);
    outputs.push_back(wanted.output ? &session.model().outputs[*wanted.output]
                                    : nullptr);
  }
  if (options.buckets.sizes.empty())
    return {};
  const Tensor *lengths = find("length");
  if (!lengths)
    return missing("length");
  Result<Buckets> made = Buckets::of(options.buckets, session.model(), inputs,
                                     targets, outputs, *lengths, where());
  if (!made)
    return made.takeError();
  buckets = std::move(*made);
  return {};
}

/// The first input, of one sample.
TensorSpec TrainingDataLoader::inputSpec() const {
  TensorSpec spec = session.model().inputs.front().spec;
  for (const auto &[name, shape] : shapes)
    if (session.model().inputNamed(name) == size_t(0) &&
        shape.size() == spec.shape.size())
      spec.shape = shape;
  if (spec.shape.size() == 4)
    spec.shape[0] = 1;
  return spec;
}

/// The same with the size in which images are stored.
TensorSpec TrainingDataLoader::pictureSpec() const {
  TensorSpec spec = inputSpec();
  if (spec.shape.size() == 4 && how.resize) {
    const size_t row = how.layout == ImageLayout::Nchw ? 2 : 1;
    spec.shape[row] = how.resize->height;
    spec.shape[row + 1] = how.resize->width;
  }
  return spec;
}

/// The size of the windows of \p images: the input's, or where that is dynamic
/// the one that images are cropped to, or theirs.
Result<PictureSize> TrainingDataLoader::windowSize(PictureSize images) const {
  PictureSize window = pictureSizeOf(inputSpec().shape, how.layout);
  const PictureSize cropped = how.resize ? how.crop.value_or(images) : images;
  for (auto [size, otherwise] : {std::pair(&window.height, cropped.height),
                                 std::pair(&window.width, cropped.width)})
    if (*size < 0)
      *size = otherwise;
  if (window.height < 0 || window.width < 0)
    return usageError(options.names.source +
                      ": the size of images is dynamic; " +
                      options.names.resize + " sets the size of all");
  const auto size = [](PictureSize each) {
    return text("%lldx%lld", static_cast<long long>(each.height),
                static_cast<long long>(each.width));
  };
  if (window.height > images.height || window.width > images.width)
    return usageError(options.names.resize + ": images of " + size(images) +
                      " are smaller than the model's input, " + size(window));
  if (how.resize && how.crop && *how.crop != window)
    return usageError(optionText("crop") + ": the model's input is " +
                      size(window) + ", not " + size(*how.crop));
  if (window.height % how.padMultiple != 0 ||
      window.width % how.padMultiple != 0)
    return usageError(optionText("pad-multiple") + ": images of " +
                      size(window) + " are no multiples of " +
                      std::to_string(how.padMultiple) + "; " +
                      options.names.resize + " gives all such a size");
  return window;
}

Result<std::optional<PictureSize>> TrainingDataLoader::window() const {
  if (!how.resize && !options.augmentation.any())
    return std::optional<PictureSize>();
  const std::vector<ModelInput> &all = session.model().inputs;
  if (all.size() != 1 || all.front().spec.shape.size() != 4)
    return usageError(
        options.names.source +
        ": images are resized and augmented for a model with one input of "
        "four dimensions; '" +
        modelPath + "' has " + std::to_string(all.size()) + ", the first a " +
        toString(all.front().spec.type, all.front().spec.shape));
  Result<PictureSize> window =
      windowSize(decode || inputs.empty()
                     ? pictureSizeOf(pictureSpec().shape, how.layout)
                     : pictureSizeOf(inputs.front().shape(), how.layout));
  if (!window)
    return window.takeError();
  return std::optional(*window);
}

/// The image at \p path; nothing if the file is no image and does not have the
/// extension of one.
static Result<std::optional<Tensor>> decoded(const std::string &path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    return std::optional<Tensor>();
  auto file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  if (!isImage((*file)->bytes())) {
    if (!isNamedAsPicture(path))
      return std::optional<Tensor>();
    return systemError("'" + path + "': no " + imageKinds + " file");
  }
  Result<Tensor> image = decodeImage((*file)->bytes(), path);
  if (!image)
    return image.takeError();
  return std::optional(std::move(*image));
}

/// The image at \p path in the input's form; nothing if the file is no image.
Result<std::optional<Tensor>>
TrainingDataLoader::picture(const std::string &path) const {
  Result<std::optional<Tensor>> image = decoded(path);
  if (!image)
    return systemError(options.names.source + ": " + image.error().message() +
                       " (" + options.names.mostUnreadable +
                       " N skips such images)");
  if (!*image)
    return std::optional<Tensor>();
  Result<Tensor> tensor = imageToInput(**image, pictureSpec(), stored);
  if (!tensor)
    return tensor.takeError();
  return std::optional(std::move(*tensor));
}

/// The indices of the samples that can be decoded, if some may be skipped;
/// those are reported.
Result<std::vector<size_t>>
TrainingDataLoader::readable(const Samples &samples) const {
  std::vector<size_t> numbers;
  if (options.mostUnreadable == 0) {
    // The first unreadable one ends the run, whenever it is decoded.
    numbers.resize(samples.count);
    std::iota(numbers.begin(), numbers.end(), size_t(0));
    return numbers;
  }
  size_t unreadable = 0;
  std::string first;
  for (size_t number = 0; number < samples.count; ++number) {
    const std::string &path = samples.paths[number];
    // Other files are arrays, whose loader reports errors.
    Result<std::optional<Tensor>> image = decoded(path);
    if (image) {
      numbers.push_back(number);
      continue;
    }
    if (++unreadable == 1)
      first = image.error().message();
    if (unreadable <= options.mostUnreadable && options.note)
      options.note(options.names.source +
                   ": left out: " + image.error().message());
  }
  if (unreadable > options.mostUnreadable)
    return systemError(
        where() + ": " + std::to_string(unreadable) + " of " +
        std::to_string(samples.count) + " images cannot be read, and " +
        std::to_string(options.mostUnreadable) + " may be left out (" +
        options.names.mostUnreadable + " N); the first: " + first);
  return numbers;
}

/// Whether each class has a sample.
Result<void> TrainingDataLoader::checkClasses(const Samples &samples) const {
  if (samples.classes.empty() ||
      std::ranges::find(samples.classes, -1) != samples.classes.end())
    return usageError(where() + ": samples lie in a folder for each class, or "
                                "with their targets in an .npz");
  // A sample is a file in the folder of its class, or a folder of its own.
  std::set<fs::path> classes;
  for (const std::string &path : samples.paths) {
    classes.insert(path);
    classes.insert(fs::path(path).parent_path());
  }
  std::error_code ignored;
  for (fs::directory_iterator entry(options.source, ignored), end;
       !ignored && entry != end; entry.increment(ignored)) {
    const fs::path folder = entry->path();
    if (!entry->is_directory(ignored) ||
        folder.filename().string().starts_with("."))
      continue;
    if (!classes.contains(folder))
      return usageError(where() + ": the class '" + folder.filename().string() +
                        "' has no sample");
  }
  return {};
}

/// The names of a file of labels, or of the folders in the source.
Result<void> TrainingDataLoader::nameClasses(const Samples &samples) {
  if (!options.labels.empty()) {
    Result<std::vector<std::string>> names =
        readLabels(options.labels, options.names.labels);
    if (!names)
      return names.takeError();
    classNames = std::move(*names);
    return {};
  }
  for (size_t i = 0; i < samples.count; ++i) {
    const fs::path inside =
        fs::path(samples.paths[i]).lexically_relative(options.source);
    const auto number = static_cast<size_t>(samples.classes[i]);
    if (number >= classNames.size())
      classNames.resize(number + 1);
    if (!inside.empty())
      classNames[number] = inside.begin()->string();
  }
  // Some names are missing if the labels are others' than the folders'.
  if (std::ranges::find(classNames, "") != classNames.end())
    classNames.clear();
  return {};
}

/// Loads the samples, or prepares to load them on demand if they are too large
/// together.
Result<void> TrainingDataLoader::take(
    size_t count, std::function<Result<std::vector<Tensor>>(size_t)> sample,
    std::vector<int64_t> classes) {
  targets = {Tensor::of<int64_t>(ElementType::I64,
                                 {static_cast<int64_t>(count)}, classes)};
  if (count == 0)
    return {};
  Result<std::vector<Tensor>> first = sample(0);
  if (!first)
    return first.takeError();
  uint64_t bytes = 0;
  for (const Tensor &each : *first)
    bytes += each.bytes();
  if (bytes > options.mostBytes / count) {
    decode = std::move(sample);
    return {};
  }
  Result<std::vector<Tensor>> all =
      stacked(count, sample, where(), options.names);
  if (!all)
    return all.takeError();
  inputs = std::move(*all);
  return {};
}

Result<void> TrainingDataLoader::fromFolders() {
  SampleOptions folders;
  folders.names.sources = options.names.source;
  folders.names.labels = options.names.labels;
  folders.sources = {options.source};
  folders.labels = options.labels;
  folders.pictures = options.pictures;
  Result<Samples> samples = findSamples(session, modelPath, folders, shapes);
  if (!samples)
    return samples.takeError();
  if (Result<void> good = checkClasses(*samples); !good)
    return good;
  if (Result<void> named = nameClasses(*samples); !named)
    return named;
  Result<std::vector<size_t>> numbers = readable(*samples);
  if (!numbers)
    return numbers.takeError();
  std::vector<int64_t> classes;
  for (size_t number : *numbers)
    classes.push_back(samples->classes[number]);
  const size_t count = numbers->size();
  // The loader does not exist any more when samples are decoded later.
  auto own = std::make_shared<TrainingDataLoader>(session, modelPath, options,
                                                  shapes, preparing);
  auto sample = [own, samples = *samples, numbers = *numbers](
                    size_t index) -> Result<std::vector<Tensor>> {
    Result<std::optional<Tensor>> tensor =
        own->picture(samples.paths[numbers[index]]);
    if (!tensor)
      return tensor.takeError();
    if (!*tensor)
      return samples.load(numbers[index]);
    return std::vector<Tensor>{std::move(**tensor)};
  };
  return take(count, sample, std::move(classes));
}

/// "train-images-idx3-ubyte.gz" has its labels in "train-labels-idx1-ubyte.gz",
/// compressed or not.
Result<std::string> TrainingDataLoader::labelsBeside() const {
  const fs::path path(options.source);
  std::string name = path.filename().string();
  const size_t at = name.rfind("images");
  if (at == std::string::npos)
    return usageError(where() + ": the labels of images in an IDX file are "
                                "looked for beside it, with 'labels' in place "
                                "of 'images' in the name, which is not there");
  name.replace(at, 6, "labels");
  if (const size_t rank = name.rfind("idx3"); rank != std::string::npos)
    name.replace(rank, 4, "idx1");
  const std::string plain =
      (path.parent_path() /
       (name.ends_with(".gz") ? name.substr(0, name.size() - 3) : name))
          .string();
  std::error_code ignored;
  for (const std::string &each : {plain, plain + ".gz"})
    if (fs::exists(each, ignored))
      return each;
  return systemError(where() + ": its labels are not there: '" + plain +
                     "' or the same with .gz");
}

Result<void> TrainingDataLoader::fromIdx() {
  Result<Tensor> pictures = readIdx(options.source);
  if (!pictures)
    return inside(options.names.source, pictures.takeError());
  Result<std::string> path = labelsBeside();
  if (!path)
    return path.takeError();
  Result<Tensor> labels = readIdx(*path);
  if (!labels)
    return inside(options.names.source, labels.takeError());
  if (pictures->rank() != 3 || labels->rank() != 1 ||
      pictures->dim(0) != labels->dim(0))
    return usageError(where() + ": images of " +
                      toString(pictures->type(), pictures->shape()) +
                      " and labels of " +
                      toString(labels->type(), labels->shape()) +
                      "; a number of images and as many labels are expected");
  if (session.model().inputs.size() != 1)
    return usageError(where() + ": an IDX file is for a model with one input");
  std::vector<int64_t> classes;
  for (int64_t i = 0; i < labels->size(); ++i)
    classes.push_back(labels->toInteger(i));
  const int64_t height = pictures->dim(1), width = pictures->dim(2);
  TensorSpec spec = pictureSpec();
  Shape wanted = spec.shape;
  // A model of rows or of vectors gets the pixels in order.
  const bool isPlain =
      (wanted.size() == 2 && (wanted[1] < 0 || wanted[1] == height * width)) ||
      (wanted.size() == 3 && (wanted[1] < 0 || wanted[1] == height) &&
       (wanted[2] < 0 || wanted[2] == width));
  if (isPlain) {
    wanted =
        wanted.size() == 2 ? Shape{1, height * width} : Shape{1, height, width};
    spec.shape = how.layout == ImageLayout::Nchw ? Shape{1, 1, height, width}
                                                 : Shape{1, height, width, 1};
  }
  auto sample = [all = *pictures, spec, wanted, isPlain, how = stored, height,
                 width](size_t number) -> Result<std::vector<Tensor>> {
    const size_t one = number;
    Result<Tensor> input = imageToInput(
        rowsOf(all, {&one, 1}).reshaped({height, width, 1}), spec, how);
    if (!input)
      return input.takeError();
    return std::vector<Tensor>{isPlain ? input->reshaped(wanted)
                                       : std::move(*input)};
  };
  const size_t count = classes.size();
  return take(count, sample, std::move(classes));
}

} // namespace sinter
