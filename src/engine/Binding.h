//===- Binding.h - binds the dynamic dimensions of a model ----------------===//

#ifndef SINTER_ENGINE_BINDING_H
#define SINTER_ENGINE_BINDING_H

#include "engine/ModelDescription.h"

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sinter {

/// Requested shapes, by input name.
using NamedShapes = std::map<std::string, Shape>;

/// The symbols by which --shape keeps dimensions dynamic.
struct DimensionName {
  std::string input;
  size_t dimension = 0;
  std::string symbol;
};

/// Upper bounds of dynamic dimensions, by their symbols.
using SizeBounds = std::map<std::string, int64_t>;

/// The symbol of a dimension; "x[0]" for one without.
std::string symbolOf(const ModelInput &input, size_t dimension);

/// Checks that each of \p bounds is of a dynamic dimension of \p model. Usage
/// error.
Result<void> checkBoundNames(const ModelDescription &model,
                             const SizeBounds &bounds);
/// Checks \p shapes, one per input, against \p bounds. The Usage error names
/// the dimension, its size and the bound.
Result<void> checkBounds(const ModelDescription &model,
                         const SizeBounds &bounds,
                         std::span<const Shape> shapes);

/// A static shape for each input of \p model, from \p requested, from the
/// tensors in \p given (one per input, empty if there is none), and from
/// dimensions of the same symbol elsewhere. A first dimension that is still
/// dynamic becomes 1, which is noted by \p note. Usage errors name the input
/// and the dimensions that stay dynamic or contradict each other.
Result<std::vector<Shape>>
bindShapes(const ModelDescription &model, const NamedShapes &requested,
           std::span<const std::optional<Tensor>> given,
           const std::function<void(const std::string &)> &note);

/// The same with -1 for each dimension whose size is not given.
Result<std::vector<Shape>>
knownShapes(const ModelDescription &model, const NamedShapes &requested,
            std::span<const std::optional<Tensor>> given);

} // namespace sinter

#endif // SINTER_ENGINE_BINDING_H
