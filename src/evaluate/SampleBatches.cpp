//===- SampleBatches.cpp - samples as batches of a model ------------------===//

#include "evaluate/SampleBatches.h"

#include "data/SampleRows.h"

#include <algorithm>
#include <chrono>

namespace sinter {

Result<BatchForm> batchFormOf(const ModelDescription &model, int64_t wanted) {
  constexpr int64_t usual = 8;
  const std::vector<ModelInput> &inputs = model.inputs;
  const auto firstSize = [](const Shape &shape) {
    return shape.empty() ? 0 : shape.front();
  };
  const int64_t size = firstSize(inputs.front().spec.shape);
  const auto symbolOf = [](const ModelInput &input) {
    return input.symbols.empty() ? std::string() : input.symbols.front();
  };
  const bool isBatch =
      size != 0 &&
      std::ranges::all_of(inputs,
                          [&](const ModelInput &input) {
                            return input.ranked && !input.sizesAreHints &&
                                   !input.feedsShapes &&
                                   firstSize(input.spec.shape) == size &&
                                   symbolOf(input) == symbolOf(inputs.front());
                          }) &&
      std::ranges::all_of(model.outputs, [&](const ModelOutput &output) {
        const std::string symbol =
            output.symbols.empty() ? "" : output.symbols.front();
        return output.ranked && firstSize(output.shape) == size &&
               (symbol.empty() || symbol == symbolOf(inputs.front()));
      });
  if (wanted > 1 && (!isBatch || (size > 0 && size != wanted)))
    return usageError("the model takes " +
                      (isBatch && size > 0
                           ? "a batch of " + std::to_string(size)
                           : std::string("one sample a run")) +
                      ", not " + std::to_string(wanted));
  if (!isBatch)
    return BatchForm{};
  if (size > 0)
    return BatchForm{size, true, true};
  return BatchForm{wanted > 0 ? wanted : usual, false, true};
}

/// Whether \p sample, a tensor per input, is one row of a batch.
static bool isOneRow(const std::vector<Tensor> &sample) {
  return std::ranges::all_of(sample, [](const Tensor &each) {
    return each.rank() > 0 && each.dim(0) == 1;
  });
}

static bool fitTogether(const std::vector<Tensor> &one,
                        const std::vector<Tensor> &other) {
  return std::ranges::equal(one, other, [](const Tensor &a, const Tensor &b) {
    return a.type() == b.type() && a.shape() == b.shape();
  });
}

/// The end of the samples that run together, from \p begin on.
size_t SampleRunner::endOfBatch(std::span<const std::vector<Tensor>> samples,
                                size_t begin) const {
  size_t end = begin + 1;
  if (!form.isBatch || !isOneRow(samples[begin]))
    return end;
  while (end < samples.size() && end - begin < static_cast<size_t>(form.rows) &&
         fitTogether(samples[begin], samples[end]))
    ++end;
  return end;
}

/// A fixed batch is filled up with rows of zeros, whose results nobody needs.
Result<std::vector<Tensor>>
SampleRunner::batchOf(std::span<const std::vector<Tensor>> samples) const {
  if (!form.isBatch || form.rows == 1 || !isOneRow(samples.front()))
    return samples.front();
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < samples.front().size(); ++i) {
    std::vector<Tensor> rows;
    for (const std::vector<Tensor> &sample : samples)
      rows.push_back(sample[i]);
    Result<Tensor> all = stackedRows(rows, form.isFixed ? form.rows : 0);
    if (!all)
      return all.takeError();
    inputs.push_back(std::move(*all));
  }
  return inputs;
}

Result<std::vector<Tensor>>
SampleRunner::runOn(std::span<const Tensor> inputs) {
  if (Result<void> ready = session.prepare(inputs); !ready)
    return ready.takeError();
  // Samples do not depend on those before them.
  Executor &executor = session.executor();
  if (!executor.states().empty())
    executor.resetStates();
  const auto start = std::chrono::steady_clock::now();
  Result<std::vector<Tensor>> outputs = executor.run(inputs);
  took +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  ++count;
  if (!outputs)
    return inFile(outputs.takeError(), path);
  return outputs;
}

Result<std::vector<std::vector<Tensor>>>
SampleRunner::run(std::span<const std::vector<Tensor>> samples) {
  std::vector<std::vector<Tensor>> results;
  for (size_t begin = 0; begin < samples.size();) {
    const size_t end = endOfBatch(samples, begin);
    const auto some = samples.subspan(begin, end - begin);
    Result<std::vector<Tensor>> inputs = batchOf(some);
    if (!inputs)
      return inputs.takeError();
    Result<std::vector<Tensor>> outputs = runOn(*inputs);
    if (!outputs)
      return outputs.takeError();
    if (inputs->front().rank() == 0 || inputs->front().dim(0) == 1 ||
        !form.isBatch || !isOneRow(some.front())) {
      results.push_back(std::move(*outputs));
      begin = end;
      continue;
    }
    const int64_t rows = inputs->front().dim(0);
    const auto hasNoRows =
        std::ranges::find_if(*outputs, [&](const Tensor &output) {
          return output.rank() == 0 || output.dim(0) != rows;
        });
    if (hasNoRows != outputs->end() && !form.isFixed) {
      // What looks like a batch is none: each sample runs by itself.
      form.isBatch = false;
      continue;
    }
    if (hasNoRows != outputs->end())
      return inFile(usageError("an output of " +
                               toString(hasNoRows->type(), hasNoRows->shape()) +
                               " has no row for each of " +
                               std::to_string(rows) + " samples"),
                    path);
    for (size_t row = 0; row < some.size(); ++row) {
      std::vector<Tensor> &own = results.emplace_back();
      for (const Tensor &output : *outputs)
        own.push_back(rowOfBatch(output, static_cast<int64_t>(row)));
    }
    begin = end;
  }
  return results;
}

} // namespace sinter
