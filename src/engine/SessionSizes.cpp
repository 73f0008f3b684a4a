//===- SessionSizes.cpp - sizes of a session's inputs ---------------------===//

#include "engine/SessionSizes.h"

#include <algorithm>

namespace sinter {

void SessionSizes::set(NamedShapes shapes) {
  const std::lock_guard lock(setting);
  sizes = std::move(shapes);
}

NamedShapes SessionSizes::bound() const {
  const std::lock_guard lock(setting);
  return sizes;
}

Result<std::vector<Shape>>
SessionSizes::bind(const ModelDescription &model,
                   std::span<const std::optional<Tensor>> given) const {
  return bindShapes(model, bound(), given, options.note);
}

Result<std::vector<Shape>>
SessionSizes::known(const ModelDescription &model,
                    std::span<const std::optional<Tensor>> given) const {
  return knownShapes(model, bound(), given);
}

/// Whether dimension \p dim of \p input, of which the file has no size, stays
/// dynamic.
bool SessionSizes::staysDynamic(const ModelDescription &model,
                                const ModelInput &input, size_t dim) const {
  if (options.dynamicSizes == DynamicSizes::Wanted)
    return options.dynamic.empty() ||
           std::ranges::find(options.dynamic, symbolOf(input, dim)) !=
               options.dynamic.end();
  return std::ranges::none_of(options.shapes, [&](const auto &given) {
    const auto &[name, shape] = given;
    const std::optional<size_t> index = model.inputNamed(name);
    return index && &model.inputs[*index] == &input && dim < shape.size() &&
           shape[dim] >= 0;
  });
}

std::vector<Shape>
SessionSizes::dynamicShapes(const ModelDescription &model,
                            std::span<const Tensor> inputs) const {
  std::vector<Shape> shapes;
  bool isDynamic = false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ModelInput &input = model.inputs[i];
    Shape &shape = shapes.emplace_back(inputs[i].shape());
    if (!input.ranked || input.spec.shape.size() != shape.size())
      return {};
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      if (input.spec.shape[dim] >= 0 || !staysDynamic(model, input, dim))
        continue;
      shape[dim] = -1;
      isDynamic = true;
    }
  }
  return isDynamic ? shapes : std::vector<Shape>();
}

} // namespace sinter
