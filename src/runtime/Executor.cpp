//===- Executor.cpp - a model that is ready to run ------------------------===//

#include "runtime/Executor.h"
#include "runtime/CallerBuffers.h"
#include "runtime/OutOfMemory.h"

#include <algorithm>

namespace sinter {

bool fits(const TensorSpec &spec, ElementType type,
          std::span<const int64_t> shape) {
  return spec.type == type &&
         std::ranges::equal(spec.shape, shape,
                            [](int64_t expected, int64_t given) {
                              return expected < 0 || expected == given;
                            });
}

static bool fits(const TensorSpec &spec, const Tensor &tensor) {
  return fits(spec, tensor.type(), tensor.shape());
}

bool fit(std::span<const TensorSpec> specs, std::span<const Tensor> tensors) {
  return std::ranges::equal(specs, tensors,
                            [](const TensorSpec &spec, const Tensor &tensor) {
                              return fits(spec, tensor);
                            });
}

Result<void> checkInputs(std::span<const TensorSpec> specs,
                         std::span<const Tensor> tensors) {
  if (specs.size() != tensors.size())
    return usageError("the model has " + std::to_string(specs.size()) +
                      (specs.size() == 1 ? " input, " : " inputs, ") +
                      std::to_string(tensors.size()) + " given");
  for (size_t i = 0; i < specs.size(); ++i)
    if (!fits(specs[i], tensors[i]))
      return usageError("input '" + specs[i].name + "': expected " +
                        toString(specs[i].type, specs[i].shape) + ", given " +
                        toString(tensors[i].type(), tensors[i].shape()));
  return {};
}

Result<std::vector<Tensor>> shapesAsTensors(std::span<const TensorSpec> specs,
                                            std::span<const Shape> shapes) {
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < shapes.size(); ++i)
    tensors.push_back(
        Tensor::share(i < specs.size() ? specs[i].type : ElementType::F32,
                      shapes[i], nullptr, nullptr));
  if (Result<void> fit = checkInputs(specs, tensors); !fit)
    return fit.takeError();
  return tensors;
}

Result<std::vector<Tensor>>
Executor::run(std::span<const TensorView> inputs,
              std::span<const std::optional<MutableTensorView>> outputs,
              const Cancellation *cancellation) {
  Result<CallerBuffers> buffers = CallerBuffers::bind(*this, inputs, outputs);
  if (!buffers)
    return buffers.takeError();
  auto results = runOn(buffers->request(cancellation));
  return results ? buffers->deliver(std::move(*results)) : std::move(results);
}

Result<std::vector<std::optional<Shape>>>
Executor::outputShapes(std::span<const Shape> shapes) const {
  if (auto fit = shapesAsTensors(inputs(), shapes); !fit)
    return fit.takeError();
  std::vector<std::optional<Shape>> known;
  for (const TensorSpec &output : outputs())
    known.push_back(std::ranges::find(output.shape, -1) == output.shape.end()
                        ? std::optional(output.shape)
                        : std::nullopt);
  return known;
}

Result<void> Executor::checkState(size_t index, ElementType type,
                                  std::span<const int64_t> shape) const {
  if (index >= states().size())
    return usageError("there is no state " + std::to_string(index));
  const TensorSpec &spec = states()[index];
  if (fits(spec, type, shape))
    return {};
  return usageError("state '" + spec.name + "': expected " +
                    toString(spec.type, spec.shape) + ", given " +
                    toString(type, shape));
}

Result<void> Executor::setState(size_t index, const Tensor &value) {
  return setState(index, viewOf(value));
}

Result<void> Executor::setState(size_t index, const TensorView &value) {
  if (Result<void> sound = checkState(index, value.type, value.shape); !sound)
    return sound;
  const std::string what = "state '" + states()[index].name + "'";
  if (Result<AddressRange> range = addressesOf(value); !range)
    return usageError(what + ": " + range.error().message());
  Result<Tensor> copy = Tensor::allocate(
      value.type, Shape(value.shape.begin(), value.shape.end()));
  if (!copy)
    return copy.takeError();
  copyElements(value, {value.type, value.shape, copy->mutableBytes(), {}});
  replaceState(index, std::move(*copy));
  return {};
}

Result<void> Executor::readState(size_t index,
                                 const MutableTensorView &to) const {
  if (Result<void> sound = checkState(index, to.type, to.shape); !sound)
    return sound;
  const std::string what = "state '" + states()[index].name + "'";
  if (Result<AddressRange> range = addressesOf(to); !range)
    return usageError(what + ": " + range.error().message());
  if (overlapsItself(to))
    return usageError(what + ": elements share memory with each other");
  if (!hasDefinedStates())
    return undefinedStates();
  return catchingOutOfMemory(what, [&]() -> Result<void> {
    copyElements(viewOf(state(index)), to);
    return {};
  });
}

Error undefinedStates() {
  return usageError("the states are undefined since a run was cancelled that "
                    "was writing them; reset them, or set each");
}

} // namespace sinter
