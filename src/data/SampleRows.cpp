#include "data/SampleRows.h"

#include "runtime/Strings.h"

#include <algorithm>

namespace sinter {

/// Whether \p shape from its second dimension on is what \p input asks for from
/// dimension \p from on.
static bool fitsFrom(const Shape &shape, const ModelInput &input, size_t from) {
  const Shape &wanted = input.spec.shape;
  if (shape.size() - 1 != wanted.size() - from)
    return false;
  for (size_t i = 0; 1 + i < shape.size() && !input.sizesAreHints; ++i)
    if (wanted[from + i] >= 0 && wanted[from + i] != shape[1 + i])
      return false;
  return true;
}

int64_t batchSizeOf(const ModelInput &input) {
  return input.sizesAreHints ? -1 : input.spec.shape[0];
}

Result<std::optional<SampleRows>> rowsIn(const Tensor &array,
                                         const ModelInput &input,
                                         const RowOptions &options) {
  const Shape &wanted = input.spec.shape;
  const Shape &shape = array.shape();
  const std::optional<SampleRows> isOne;
  if (!input.ranked || shape.empty() || array.type() != input.spec.type)
    return isOne;
  if (shape.size() == wanted.size() + 1 && fitsFrom(shape, input, 0)) {
    SampleRows rows{shape[0], Shape(shape.begin() + 1, shape.end())};
    return std::optional(std::move(rows));
  }
  if (!options.hasBatch || wanted.empty() || shape.size() != wanted.size() ||
      !fitsFrom(shape, input, 1))
    return isOne;
  const int64_t batch =
      options.asRows || batchSizeOf(input) < 0 ? 1 : wanted[0];
  if (shape[0] == batch)
    return isOne;
  if (batch == 0 || shape[0] % batch != 0)
    return usageError("an array of " + toString(array.type(), shape) +
                      " is no whole number of batches of " +
                      std::to_string(batch) + " for input '" + input.spec.name +
                      "'");
  SampleRows rows{shape[0] / batch, shape};
  rows.shape[0] = batch;
  return std::optional(std::move(rows));
}

/// Bytes \p offset on of \p whole, as a tensor of \p shape.
static Tensor within(const Tensor &whole, Shape shape, size_t offset) {
  auto owner = std::make_shared<const Tensor>(whole);
  const std::byte *data = owner->data() + offset;
  return Tensor::share(whole.type(), std::move(shape), data, std::move(owner));
}

Tensor sampleOf(const Tensor &array, const SampleRows &rows, size_t index) {
  const size_t bytes =
      array.bytes() / static_cast<size_t>(std::max<int64_t>(rows.count, 1));
  return within(array, rows.shape, index * bytes);
}

BatchDimension batchOf(const std::vector<ModelInput> &inputs,
                       const std::vector<size_t> &varying) {
  BatchDimension batch;
  batch.inputs.resize(inputs.size());
  const auto symbol = [](const ModelInput &input) {
    return input.symbols.empty() ? std::string() : input.symbols[0];
  };
  const ModelInput *first = nullptr;
  for (const size_t index : varying) {
    const ModelInput &input = inputs[index];
    const bool isPlain =
        input.ranked && !input.feedsShapes && !input.spec.shape.empty();
    if (!first && (!isPlain || input.spec.shape.size() < 2))
      return {};
    if (!first) {
      first = &input;
      batch.size = batchSizeOf(input);
    }
    batch.inputs[index] = isPlain && batchSizeOf(input) == batch.size &&
                          (batch.size >= 0 || symbol(input) == symbol(*first));
  }
  return batch;
}

std::vector<ModelInput> withAnyBatch(std::vector<ModelInput> inputs,
                                     const BatchDimension &batch) {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (batch.has(i) && batch.size > 1)
      inputs[i].spec.shape[0] = -1;
  return inputs;
}

Result<Tensor> stackedRows(std::span<const Tensor> samples, int64_t size) {
  Shape shape = samples.front().shape();
  shape[0] = std::max<int64_t>(size, static_cast<int64_t>(samples.size()));
  Result<Tensor> all = Tensor::allocate(samples.front().type(), shape);
  if (!all)
    return all;
  std::byte *to = all->mutableBytes();
  for (const Tensor &sample : samples) {
    if (sample.bytes() != 0)
      std::memcpy(to, sample.data(), sample.bytes());
    to += sample.bytes();
  }
  return holdStrings(std::move(*all));
}

Tensor rowOfBatch(const Tensor &result, int64_t index) {
  Shape shape = result.shape();
  const size_t bytes =
      result.bytes() / static_cast<size_t>(std::max<int64_t>(shape[0], 1));
  shape[0] = 1;
  return within(result, std::move(shape), static_cast<size_t>(index) * bytes);
}

} // namespace sinter
