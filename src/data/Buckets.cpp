//===- Buckets.cpp - sequences of different lengths -----------------------===//

#include "data/Buckets.h"

#include "runtime/TensorText.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace sinter {

std::optional<BucketOptions> parseBuckets(const std::string &text) {
  BucketOptions options;
  std::string rest = text;
  if (const size_t equal = rest.rfind('='); equal != std::string::npos) {
    options.dimension = rest.substr(0, equal);
    rest = rest.substr(equal + 1);
    if (options.dimension.empty())
      return std::nullopt;
  }
  const char *at = rest.data(), *end = at + rest.size();
  while (true) {
    int64_t size = 0;
    auto [behind, error] = std::from_chars(at, end, size);
    if (error != std::errc() || size < 1 ||
        (!options.sizes.empty() && size <= options.sizes.back()))
      return std::nullopt;
    options.sizes.push_back(size);
    if (behind == end)
      return options;
    if (*behind != ',')
      return std::nullopt;
    at = behind + 1;
  }
}

/// The symbols of the dynamic dimensions of inputs, without the batch.
static std::set<std::string> unknownDimensions(const ModelDescription &model) {
  std::set<std::string> names, samples;
  for (const ModelInput &input : model.inputs)
    for (size_t i = 0; i < input.symbols.size(); ++i)
      if (!input.symbols[i].empty() && input.spec.shape[i] < 0)
        (i == 0 ? samples : names).insert(input.symbols[i]);
  for (const std::string &name : samples)
    names.erase(name);
  return names;
}

static std::string listOf(const std::set<std::string> &names) {
  std::string list;
  for (const std::string &name : names)
    list += (list.empty() ? "" : ", ") + name;
  return list;
}

/// The truncated dimension, by name.
static Result<std::string> dimensionOf(const BucketOptions &options,
                                       const ModelDescription &model) {
  const std::set<std::string> names = unknownDimensions(model);
  if (names.empty())
    return usageError(options.called +
                      ": none of the model's inputs has an unknown "
                      "dimension with a name, but for those of samples");
  if (options.dimension.empty() && names.size() == 1)
    return *names.begin();
  if (names.contains(options.dimension))
    return options.dimension;
  return usageError(
      options.called + ": " +
      (options.dimension.empty()
           ? std::string("it is not said of which dimension")
           : "there is no unknown dimension '" + options.dimension + "'") +
      "; the model's inputs have " + listOf(names) + " (" + options.called +
      " NAME=SIZES)");
}

/// The elements of \p tensor up to \p size along a dimension.
static Tensor cutTo(const Tensor &tensor, int64_t dimension, int64_t size) {
  Shape shape = tensor.shape();
  if (shape[dimension] <= size)
    return tensor;
  size_t outer = 1, inner = byteSize(tensor.type());
  for (int64_t i = 0; i < tensor.rank(); ++i)
    if (i < dimension)
      outer *= static_cast<size_t>(shape[i]);
    else if (i > dimension)
      inner *= static_cast<size_t>(shape[i]);
  const size_t whole = inner * static_cast<size_t>(shape[dimension]),
               part = inner * static_cast<size_t>(size);
  shape[dimension] = size;
  Tensor result(tensor.type(), shape);
  for (size_t i = 0; i < outer; ++i)
    std::copy_n(tensor.data() + i * whole, part,
                result.mutableBytes() + i * part);
  return result;
}

Result<Buckets> Buckets::of(const BucketOptions &options,
                            const ModelDescription &model,
                            const std::vector<Tensor> &inputs,
                            const std::vector<Tensor> &targets,
                            const std::vector<const TensorSpec *> &outputs,
                            const Tensor &lengths, const std::string &where) {
  Result<std::string> name = dimensionOf(options, model);
  if (!name)
    return name.takeError();
  Buckets made;
  made.sizes = options.sizes;
  std::optional<int64_t> padded;
  for (size_t i = 0; i < inputs.size(); ++i) {
    made.inputDimensions.emplace_back();
    const ModelInput &input = model.inputs[i];
    for (size_t j = 1; j < input.symbols.size(); ++j) {
      if (input.symbols[j] != *name)
        continue;
      const int64_t size = inputs[i].dim(static_cast<int64_t>(j));
      if (padded && *padded != size)
        return usageError(where + ": the dimension '" + *name +
                          "' is once of size " + std::to_string(*padded) +
                          " and once of size " + std::to_string(size));
      padded = size;
      made.inputDimensions.back().push_back(static_cast<int64_t>(j));
    }
  }
  if (!padded)
    return usageError(options.called + ": '" + *name +
                      "' counts samples, not what they hold");
  for (size_t i = 0; i < targets.size(); ++i) {
    made.targetDimensions.emplace_back();
    for (int64_t j = 1; j < targets[i].rank(); ++j) {
      // Its size is that of the sequences, not only of the output.
      const bool isSet =
          outputs[i] &&
          static_cast<int64_t>(outputs[i]->shape.size()) == targets[i].rank() &&
          outputs[i]->shape[j] >= 0;
      if (targets[i].dim(j) == *padded && !isSet)
        made.targetDimensions.back().push_back(j);
    }
  }
  if (lengths.rank() != 1 || !isInteger(lengths.type()) ||
      lengths.dim(0) != inputs.front().dim(0))
    return usageError(where + ": the array 'length' is a " +
                      toString(lengths.type(), lengths.shape()) + "; " +
                      options.called +
                      " needs an integer a sample, its length");
  for (int64_t i = 0; i < lengths.size(); ++i) {
    const int64_t length = lengths.toInteger(i);
    const auto bucket = std::ranges::lower_bound(made.sizes, length);
    if (length < 0 || length > *padded || bucket == made.sizes.end())
      return usageError(where + ": sample " + std::to_string(i) +
                        " has the length " + elementText(lengths, i) +
                        "; the arrays hold " + std::to_string(*padded) +
                        ", and the largest bucket " +
                        std::to_string(made.sizes.back()));
    made.buckets.push_back(static_cast<uint32_t>(bucket - made.sizes.begin()));
  }
  return made;
}

void Buckets::cut(uint32_t bucket, std::vector<Tensor> &inputs,
                  std::vector<Tensor> &targets) const {
  const int64_t size = sizes[bucket];
  for (auto [tensors, dimensions] : {std::pair(&inputs, &inputDimensions),
                                     std::pair(&targets, &targetDimensions)})
    for (size_t i = 0; i < tensors->size(); ++i)
      for (int64_t dimension : (*dimensions)[i])
        (*tensors)[i] = cutTo((*tensors)[i], dimension, size);
}

} // namespace sinter
