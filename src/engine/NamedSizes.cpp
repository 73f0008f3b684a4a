//===- NamedSizes.cpp - sizes of dynamic dimensions by their names --------===//

#include "engine/NamedSizes.h"

#include "runtime/OptionNames.h"
#include "runtime/Suggestions.h"

#include <algorithm>

namespace sinter {

/// Whether the size of a dimension may be chosen.
static bool isChoice(const ModelInput &input, size_t dim) {
  // A size from --shape still has its symbol.
  const bool isNamed =
      dim < input.symbols.size() && !input.symbols[dim].empty();
  return isNamed || input.spec.shape[dim] < 0 || input.sizesAreHints;
}

/// Checks that some dimension of \p model whose size may be chosen is called \p
/// symbol.
static Result<void> checkSymbol(const ModelDescription &model,
                                const std::string &symbol,
                                std::string_view option) {
  std::vector<std::string> known;
  for (const ModelInput &input : model.inputs)
    for (size_t dim = 0; dim < input.spec.shape.size(); ++dim)
      if (isChoice(input, dim))
        if (const std::string its = symbolOf(input, dim);
            std::ranges::find(known, its) == known.end())
          known.push_back(its);
  if (std::ranges::find(known, symbol) != known.end())
    return {};
  return withHint(
      known.empty() ? "the model has none" : suggestion(symbol, known),
      usageError(optionText(option) + ": no dynamic dimension is called '" +
                 symbol + "'"));
}

Result<NamedShapes> withSizes(const ModelDescription &model,
                              const SymbolSizes &sizes,
                              const NamedShapes &given,
                              std::string_view option) {
  NamedShapes shapes;
  for (const auto &[name, shape] : given) {
    const std::optional<size_t> index = model.inputNamed(name);
    shapes[index ? model.inputs[*index].spec.name : name] = shape;
  }
  for (const auto &[symbol, size] : sizes) {
    if (Result<void> known = checkSymbol(model, symbol, option); !known)
      return known.takeError();
    for (const ModelInput &input : model.inputs)
      for (size_t dim = 0; dim < input.spec.shape.size(); ++dim) {
        if (!isChoice(input, dim) || symbolOf(input, dim) != symbol)
          continue;
        const auto [place, isNew] =
            shapes.emplace(input.spec.name, input.spec.shape);
        Shape &shape = place->second;
        const bool isFree =
            dim < shape.size() && (shape[dim] < 0 || shape[dim] == size ||
                                   (isNew && input.sizesAreHints));
        if (!isFree)
          return usageError(
              optionText(option) + ": the shape of input '" + input.spec.name +
              "' leaves dimension '" + symbol +
              "' no other size: " + toString(input.spec.type, shape));
        shape[dim] = size;
      }
  }
  return shapes;
}

Result<void> checkSymbols(const ModelDescription &model,
                          std::span<const std::string> symbols,
                          std::string_view option) {
  for (const std::string &symbol : symbols)
    if (Result<void> known = checkSymbol(model, symbol, option); !known)
      return known;
  return {};
}

} // namespace sinter
