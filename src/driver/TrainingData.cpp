//===- TrainingData.cpp - samples to train on -----------------------------===//

#include "driver/TrainingData.h"

#include "driver/CalibrationData.h"
#include "runtime/Npz.h"

#include <algorithm>
#include <filesystem>

namespace sinter::driver {

/// Rows of \p tensor, whose first dimension counts samples.
static Tensor rowsOf(const Tensor &tensor, std::span<const size_t> numbers) {
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

Batch TrainingData::batch(std::span<const size_t> numbers) const {
  Batch batch;
  for (const Tensor &input : inputs)
    batch.inputs.push_back(rowsOf(input, numbers));
  batch.target = rowsOf(targets, numbers);
  return batch;
}

namespace {

/// Fills in the arrays, from either kind of source.
class Loader {
public:
  Loader(Session &session, const std::string &modelPath,
         const TrainingDataOptions &options, const NamedShapes &shapes)
      : session(session), modelPath(modelPath), options(options),
        shapes(shapes) {}

  Result<void> fromArchive();
  Result<void> fromFolders();

  std::vector<Tensor> inputs;
  Tensor targets;

private:
  std::string where() const {
    return options.flag + " '" + options.source + "'";
  }
  Result<void> checkArray(const std::string &name, const Tensor &array,
                          const ModelInput &input) const;

  Session &session;
  const std::string &modelPath;
  const TrainingDataOptions &options;
  const NamedShapes &shapes;
};

} // namespace

/// Whether each sample of \p array fits the input, but for the number of them.
Result<void> Loader::checkArray(const std::string &name, const Tensor &array,
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

Result<void> Loader::fromArchive() {
  auto arrays = readNpz(options.source);
  if (!arrays)
    return arrays.takeError();
  auto find = [&](const std::string &name) -> const Tensor * {
    for (const auto &[its, tensor] : *arrays)
      if (its == name)
        return &tensor;
    return nullptr;
  };
  auto missing = [&](const std::string &name) {
    std::string names;
    for (const auto &[its, tensor] : *arrays)
      names += (names.empty() ? "" : ", ") + its;
    return usageError(where() + ": there is no array '" + name +
                      "'; it holds " + (names.empty() ? "nothing" : names));
  };
  const Tensor *target = find("target");
  if (!target)
    return missing("target");
  for (const ModelInput &input : session.model().inputs) {
    const Tensor *array = find(input.spec.name);
    if (!array)
      return missing(input.spec.name);
    if (Result<void> good = checkArray(input.spec.name, *array, input); !good)
      return good;
    inputs.push_back(*array);
  }
  targets = *target;
  if (targets.rank() == 0)
    return usageError(where() + ": the array 'target' is one number; one or "
                                "more a sample are expected");
  for (const Tensor &input : inputs)
    if (input.dim(0) != targets.dim(0))
      return usageError(where() + ": there are " +
                        std::to_string(input.dim(0)) + " samples and " +
                        std::to_string(targets.dim(0)) + " targets");
  return {};
}

Result<void> Loader::fromFolders() {
  CalibrationOptions folders;
  folders.flag = options.flag;
  folders.sources = {options.source};
  folders.labels = options.labels;
  folders.pictures = options.pictures;
  Result<Samples> samples = findSamples(session, modelPath, folders, shapes);
  if (!samples)
    return samples.takeError();
  if (samples->classes.empty() ||
      std::ranges::find(samples->classes, -1) != samples->classes.end())
    return usageError(where() + ": samples lie in a folder for each class, or "
                                "with their targets in an .npz");
  const size_t count = samples->count;
  for (size_t number = 0; number < count; ++number) {
    Result<std::vector<Tensor>> sample = samples->load(number);
    if (!sample)
      return sample.takeError();
    for (size_t i = 0; i < sample->size(); ++i) {
      const Tensor &each = (*sample)[i];
      if (each.rank() == 0 || each.dim(0) != 1)
        return usageError(where() + ": a sample has the shape " +
                          toString(each.type(), each.shape()) +
                          "; the first dimension counts samples and is 1");
      if (number == 0) {
        Shape all = each.shape();
        all[0] = static_cast<int64_t>(count);
        if (!byteCount(each.type(), all))
          return usageError(where() + ": the samples are too large together");
        inputs.emplace_back(each.type(), all);
      }
      if (each.bytes() * count != inputs[i].bytes())
        return usageError(where() + ": samples differ in size; --shape says "
                                    "which one all are to have");
      std::copy_n(each.data(), each.bytes(),
                  inputs[i].mutableBytes() + number * each.bytes());
    }
  }
  targets = Tensor::of<int64_t>(ElementType::I64, {static_cast<int64_t>(count)},
                                samples->classes);
  return {};
}

Result<TrainingData> TrainingData::load(Session &session,
                                        const std::string &modelPath,
                                        const TrainingDataOptions &options,
                                        const NamedShapes &shapes) {
  Loader loader(session, modelPath, options, shapes);
  std::error_code ignored;
  const bool isFolder = std::filesystem::is_directory(options.source, ignored);
  if (!std::filesystem::exists(options.source, ignored))
    return systemError(options.flag + ": there is no '" + options.source + "'");
  if (!isFolder && !options.source.ends_with(".npz"))
    return usageError(options.flag + " '" + options.source +
                      "': an .npz, or a folder with a folder for each class, "
                      "is expected");
  if (Result<void> done =
          isFolder ? loader.fromFolders() : loader.fromArchive();
      !done)
    return done.takeError();
  TrainingData data;
  data.inputs = std::move(loader.inputs);
  data.targets = std::move(loader.targets);
  data.samples = static_cast<size_t>(data.targets.dim(0));
  if (data.samples == 0)
    return usageError(options.flag + " '" + options.source +
                      "': there is no sample");
  return data;
}

} // namespace sinter::driver
