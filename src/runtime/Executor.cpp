//===- Executor.cpp - a model that is ready to run ------------------------===//

#include "runtime/Executor.h"

#include <cstring>

#include <algorithm>

namespace sinter {

static bool fits(const TensorSpec &spec, const Tensor &tensor) {
  return spec.type == tensor.type() &&
         std::ranges::equal(spec.shape, tensor.shape(),
                            [](int64_t expected, int64_t given) {
                              return expected < 0 || expected == given;
                            });
}

bool fit(std::span<const TensorSpec> specs, std::span<const Tensor> tensors) {
  return std::ranges::equal(specs, tensors, fits);
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

Result<void> Executor::setState(size_t index, const Tensor &value) {
  if (index >= states().size())
    return usageError("there is no state " + std::to_string(index));
  const TensorSpec &spec = states()[index];
  if (!fits(spec, value))
    return usageError("state '" + spec.name + "': expected " +
                      toString(spec.type, spec.shape) + ", given " +
                      toString(value.type(), value.shape()));
  Tensor copy(value.type(), value.shape());
  if (copy.bytes() != 0)
    std::memcpy(copy.mutableBytes(), value.data(), copy.bytes());
  replaceState(index, std::move(copy));
  return {};
}

} // namespace sinter
