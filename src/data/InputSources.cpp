#include "data/InputSources.h"

#include "data/Feeds.h"
#include "data/Inputs.h"
#include "data/SampleRows.h"
#include "data/SampleSources.h"
#include "runtime/Npy.h"

#include <algorithm>
#include <unistd.h>

namespace sinter {

/// Whether the file \p path has an array of several samples of \p input.
static bool hasSeveral(const std::string &path, const ModelInput &input,
                       bool splitsBatches) {
  if (!path.ends_with(".npy"))
    return false;
  // What cannot be read is an error when it is loaded.
  Result<Tensor> array = readNpy(path);
  if (!array)
    return false;
  const Shape &wanted = input.spec.shape;
  const bool isBatch = array->rank() == std::ssize(wanted) && array->rank() > 0;
  if (isBatch && !splitsBatches &&
      (batchSizeOf(input) < 0 || batchSizeOf(input) == array->dim(0)))
    return false;
  Result<std::optional<SampleRows>> rows =
      rowsIn(asStored(std::move(*array), input.spec.type), input,
             {.hasBatch = wanted.size() > 1, .asRows = true});
  return rows && *rows;
}

/// Whether \p source is one of samples of \p input. What is a pattern or a list
/// elsewhere is a text where strings are wanted ("why?"),
/// unless it is a file.
static bool isOfSamples(const std::string &source, const ModelInput &input,
                        bool splitsBatches) {
  const SampleSourceKind kind = kindOfSource(source);
  if (isString(input.spec.type) && kind != SampleSourceKind::StandardInput &&
      ::access(source.c_str(), F_OK) != 0)
    return false;
  return kind != SampleSourceKind::File || source.ends_with(".npz") ||
         hasSeveral(source, input, splitsBatches);
}

static bool isRandom(const std::string &source) {
  return source == "random" || source.starts_with("random:");
}

Result<InputSources> inputSources(const ModelDescription &model,
                                  const std::vector<ModelInput> &inputs,
                                  const std::vector<std::string> &arguments,
                                  bool splitsBatches,
                                  const std::vector<std::string> &zeros) {
  InputSources sources;
  std::vector<bool> isNamed(inputs.size());
  std::vector<std::string> unnamed;
  std::string drawn;
  for (const std::string &argument : arguments) {
    const std::optional<NamedInput> named = namedInput(model, argument);
    if (named) {
      isNamed[named->index] = true;
      (isOfSamples(named->source, inputs[named->index], splitsBatches)
           ? sources.samples
           : sources.fixed)
          .push_back(argument);
    } else if (isRandom(argument)) {
      drawn = argument;
    } else {
      unnamed.push_back(argument);
    }
  }
  const std::vector<std::string> zero = zeroInputs(model, zeros);
  std::vector<size_t> left;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!isNamed[i] &&
        std::ranges::find(zero, inputs[i].spec.name) == zero.end())
      left.push_back(i);
  const bool areAllOfOne = left.size() == 1 && unnamed.size() > 1;
  size_t next = 0;
  for (const std::string &source : unnamed) {
    const bool isOf =
        !left.empty() &&
        isOfSamples(source, inputs[left[std::min(next, left.size() - 1)]],
                    splitsBatches);
    if (areAllOfOne || (isOf && unnamed.size() == 1)) {
      // For all that are left.
      sources.samples.push_back(source);
      next = left.size();
      continue;
    }
    if (next >= left.size())
      return InputSources();
    (isOf ? sources.samples : sources.fixed)
        .push_back(inputs[left[next++]].spec.name + "=" + source);
  }
  if (!drawn.empty())
    for (; next < left.size(); ++next)
      sources.fixed.push_back(inputs[left[next]].spec.name + "=" + drawn);
  return sources;
}

} // namespace sinter
