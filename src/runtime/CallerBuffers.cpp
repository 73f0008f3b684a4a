//===- CallerBuffers.cpp - a run on memory that the caller owns -----------===//

#include "runtime/CallerBuffers.h"
#include "runtime/OutOfMemory.h"

#include <algorithm>
#include <cstring>

namespace sinter {

static Error ofTensor(const char *kind, const TensorSpec &spec,
                      const Error &error) {
  return inside(std::string(kind) + " '" + spec.name + "'", error);
}

static Error mismatch(const char *kind, const TensorSpec &spec,
                      const TensorView &given) {
  return ofTensor(kind, spec,
                  usageError("expected " + toString(spec.type, spec.shape) +
                             ", given " + toString(given.type, given.shape)));
}

static Result<void> checkCount(const char *kind, size_t wanted, size_t given) {
  if (wanted == given)
    return {};
  return usageError("the model has " + std::to_string(wanted) + " " + kind +
                    (wanted == 1 ? ", " : "s, ") + std::to_string(given) +
                    " given");
}

static Shape shapeOf(const TensorView &view) {
  return {view.shape.begin(), view.shape.end()};
}

static bool isOpen(const TensorSpec &spec) {
  return std::ranges::find(spec.shape, -1) != spec.shape.end();
}

Result<CallerBuffers> CallerBuffers::bind(const Executor &executor,
                                          std::span<const TensorView> inputs,
                                          Outputs outputs) {
  const std::span<const TensorSpec> wanted = executor.inputs();
  CallerBuffers buffers(executor.outputs(), outputs);
  if (Result<void> same = checkCount("input", wanted.size(), inputs.size());
      !same)
    return same.takeError();
  if (Result<void> same =
          checkCount("output", buffers.specs.size(), outputs.size());
      !same)
    return same.takeError();
  buffers.inputs.reserve(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    if (Result<void> bound = buffers.bindInput(wanted[i], inputs[i]); !bound)
      return bound.takeError();
  // Sizes that follow from the inputs are computed if there are some.
  std::vector<std::optional<Shape>> open;
  if (std::ranges::any_of(buffers.specs, isOpen)) {
    std::vector<Shape> given;
    for (const TensorView &input : inputs)
      given.push_back(shapeOf(input));
    auto known = executor.outputShapes(given);
    if (!known)
      return known.takeError();
    open = std::move(*known);
  }
  buffers.places.resize(outputs.size());
  buffers.writtenTo.resize(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Shape *shape = open.empty() ? &buffers.specs[i].shape
                         : open[i]    ? &*open[i]
                                      : nullptr;
    if (Result<void> bound = buffers.bindOutput(i, shape); !bound)
      return bound.takeError();
  }
  return buffers;
}

Result<void> CallerBuffers::bindInput(const TensorSpec &spec,
                                      const TensorView &input) {
  Result<AddressRange> range = addressesOf(input);
  if (!range)
    return ofTensor("input", spec, range.error());
  if (!fits(spec, input.type, input.shape))
    return mismatch("input", spec, input);
  if (isDense(input)) {
    inputs.push_back(
        Tensor::share(input.type, shapeOf(input), input.data, nullptr));
    readFrom.push_back(*range);
    return {};
  }
  Result<Tensor> copy = Tensor::allocate(input.type, shapeOf(input));
  if (!copy)
    return ofTensor("input", spec, copy.error());
  copyElements(input, {input.type, input.shape, copy->mutableBytes(), {}});
  inputs.push_back(std::move(*copy));
  return {};
}

/// \p shape is the output's shape; null if it is unknown before the run.
Result<void> CallerBuffers::bindOutput(size_t number, const Shape *shape) {
  const std::optional<MutableTensorView> &view = outputs[number];
  if (!view)
    return {};
  const TensorSpec &spec = specs[number];
  Result<AddressRange> range = addressesOf(*view);
  if (!range)
    return ofTensor("output", spec, range.error());
  const bool hasShape =
      shape ? std::ranges::equal(*shape, view->shape)
            : isDense(*view) || fits(spec, view->type, view->shape);
  if (view->type != spec.type || !hasShape)
    return mismatch("output",
                    {spec.name, spec.type, shape ? *shape : spec.shape}, *view);
  writtenTo[number] = *range;
  if (overlapsItself(*view))
    return ofTensor("output", spec,
                    usageError("elements share memory with each other"));
  if (Result<void> apart = checkApart(number); !apart)
    return apart;
  const bool isRead = std::ranges::any_of(
      readFrom, [&](const AddressRange &read) { return read.meets(*range); });
  if (!isRead && isDense(*view))
    places[number] = {static_cast<std::byte *>(view->data),
                      range->end - range->begin};
  return {};
}

/// Whether output \p number shares no memory with earlier ones.
Result<void> CallerBuffers::checkApart(size_t number) const {
  for (size_t before = 0; before < number; ++before)
    if (outputs[before] && writtenTo[before].meets(writtenTo[number]) &&
        overlap(*outputs[before], *outputs[number]))
      return usageError("outputs '" + specs[before].name + "' and '" +
                        specs[number].name + "' share memory");
  return {};
}

Result<void> CallerBuffers::deliver(size_t number, Tensor &result) const {
  const MutableTensorView &view = *outputs[number];
  const bool hasShape = std::ranges::equal(view.shape, result.shape());
  if (result.bytes() != 0 && result.data() == view.data)
    return {};
  if (!isDense(view)) {
    if (!hasShape)
      return mismatch(
          "output", {specs[number].name, result.type(), result.shape()}, view);
    copyElements(viewOf(result), view);
    return {};
  }
  const size_t bytes = writtenTo[number].end - writtenTo[number].begin;
  if (result.bytes() > bytes)
    return ofTensor("output", specs[number],
                    usageError(toString(result.type(), result.shape()) +
                               " takes " + std::to_string(result.bytes()) +
                               " bytes, the buffer given has " +
                               std::to_string(bytes)));
  if (result.bytes() != 0)
    std::memcpy(view.data, result.data(), result.bytes());
  result = Tensor::share(result.type(), result.shape(), view.data, nullptr);
  return {};
}

Result<std::vector<Tensor>>
CallerBuffers::deliver(std::vector<Tensor> results) const {
  for (size_t i = 0; i < results.size(); ++i)
    if (outputs[i])
      if (Result<void> done = deliver(i, results[i]); !done)
        return done.takeError();
  return results;
}

} // namespace sinter
