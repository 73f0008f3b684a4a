//===- Binding.h - binds the unknown dimensions of a model ----------------===//

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

/// Shapes by input name, as the user asked for them.
using NamedShapes = std::map<std::string, Shape>;

/// What --shape calls a dimension that it leaves open.
struct DimensionName {
  std::string input;
  size_t dimension = 0;
  std::string symbol;
};

/// Upper bounds of unknown dimensions, by their symbols.
using SizeBounds = std::map<std::string, int64_t>;

/// The symbol of a dimension; "x[0]" for one that has none.
std::string symbolOf(const ModelInput &input, size_t dimension);

/// Whether each of \p bounds is of an unknown dimension of \p model. Usage
/// error.
Result<void> checkBoundNames(const ModelDescription &model,
                             const SizeBounds &bounds);
/// Whether \p shapes, one an input, keep to \p bounds. The Usage error names
/// the dimension, its size and the bound.
Result<void> checkBounds(const ModelDescription &model,
                         const SizeBounds &bounds,
                         std::span<const Shape> shapes);

/// A shape for each input of \p model with every dimension known, from
/// \p requested, from the tensors in \p given (one place per input, empty where
/// there is none), and from dimensions of the same symbol elsewhere. A first
/// dimension that is still open becomes 1, which \p note is told. Usage errors
/// name the input and the dimensions: what stays open, what contradicts.
Result<std::vector<Shape>>
bindShapes(const ModelDescription &model, const NamedShapes &requested,
           std::span<const std::optional<Tensor>> given,
           const std::function<void(const std::string &)> &note);

/// The entry of \p candidates that \p text was probably meant to be; empty if
/// none is close (Levenshtein distance of at most a third of its length).
std::string nearMiss(std::string_view text,
                     std::span<const std::string> candidates);
/// "; did you mean 'x'?", or nothing.
std::string didYouMean(std::string_view text,
                       std::span<const std::string> candidates);
/// The same; where there is nothing, "; there are 'a', 'b' and 'c'".
std::string suggestion(std::string_view text,
                       std::span<const std::string> candidates);
/// "'a', 'b' and 'c'".
std::string quotedList(std::span<const std::string> names);

} // namespace sinter

#endif // SINTER_ENGINE_BINDING_H
