//===- Binding.cpp - binds the dynamic dimensions of a model --------------===//

#include "engine/Binding.h"

#include "engine/NamedSizes.h"
#include "runtime/OptionNames.h"
#include "runtime/Suggestions.h"

#include <algorithm>

namespace sinter {

namespace {

class Binder {
public:
  explicit Binder(const ModelDescription &model) : model(model) {
    for (const ModelInput &input : model.inputs) {
      shapes.push_back(input.spec.shape);
      isHint.emplace_back(input.spec.shape.size(), input.sizesAreHints);
    }
  }

  /// Binds the shape of an input to \p shape, from \p source.
  Result<void> take(size_t index, const Shape &shape,
                    const std::string &source) {
    const ModelInput &input = model.inputs[index];
    const auto differs = [&] {
      return usageError("input '" + input.spec.name + "' is " + input.text() +
                        ", but " + source + " has " +
                        toString(input.spec.type, shape));
    };
    if (!input.ranked && shapes[index].empty()) {
      shapes[index].assign(shape.size(), -1);
      isHint[index].assign(shape.size(), false);
    }
    if (shape.size() != shapes[index].size())
      return differs();
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis] < 0)
        continue;
      int64_t &known = shapes[index][axis];
      if (known >= 0 && known != shape[axis] && !isHint[index][axis])
        return differs();
      isHint[index][axis] = false;
      known = shape[axis];
      if (Result<void> agreed = define(input, axis, shape[axis]); !agreed)
        return agreed;
    }
    return {};
  }

  /// Binds every dynamic dimension to the size that its symbol has elsewhere.
  void spreadSymbols() {
    forEachDynamic([&](const ModelInput &input, size_t axis, int64_t &size) {
      if (auto found = symbols.find(symbolOf(input, axis));
          found != symbols.end())
        size = found->second;
    });
  }

  /// Makes unbound first dimensions 1; returns their names.
  std::string assumeBatch() {
    std::string assumed;
    forEachDynamic([&](const ModelInput &input, size_t axis, int64_t &size) {
      if (axis != 0)
        return;
      size = 1;
      const std::string symbol = symbolOf(input, axis);
      if (!symbol.empty())
        symbols.emplace(symbol, 1);
      assumed += (assumed.empty() ? "'" : ", '") + input.spec.name + "'";
    });
    spreadSymbols();
    return assumed;
  }

  /// The unbound dimensions as text; empty if there are none.
  std::string open() {
    std::string text;
    forEachDynamic([&](const ModelInput &input, size_t axis, int64_t &) {
      const std::string symbol = symbolOf(input, axis);
      text += (text.empty() ? "dimension " : ", dimension ") +
              std::to_string(axis) +
              (symbol.empty() ? "" : " (" + symbol + ")") + " of input '" +
              input.spec.name + "'";
    });
    return text;
  }

  /// The first unbound dimension, as options call it, of those that are first
  /// in their input or of all; empty if there is none.
  std::string firstOpen(bool isBatch) {
    std::string name;
    forEachDynamic([&](const ModelInput &input, size_t axis, int64_t &) {
      if (name.empty() && (axis == 0 || !isBatch))
        name = sinter::symbolOf(input, axis);
    });
    return name;
  }

  std::vector<Shape> shapes;

private:
  static std::string symbolOf(const ModelInput &input, size_t axis) {
    return axis < input.symbols.size() ? input.symbols[axis] : "";
  }

  Result<void> define(const ModelInput &input, size_t axis, int64_t size) {
    const std::string symbol = symbolOf(input, axis);
    if (symbol.empty())
      return {};
    const auto [entry, isNew] = symbols.emplace(symbol, size);
    if (isNew || entry->second == size)
      return {};
    return usageError("dimension " + symbol + " is " +
                      std::to_string(entry->second) + " and, in input '" +
                      input.spec.name + "', " + std::to_string(size));
  }

  template <typename Visit> void forEachDynamic(Visit visit) {
    for (size_t i = 0; i < shapes.size(); ++i)
      for (size_t axis = 0; axis < shapes[i].size(); ++axis)
        if (shapes[i][axis] < 0)
          visit(model.inputs[i], axis, shapes[i][axis]);
  }

  const ModelDescription &model;
  /// Whether a size is only a hint of the model.
  std::vector<std::vector<bool>> isHint;
  std::map<std::string, int64_t> symbols;
};

} // namespace

std::string symbolOf(const ModelInput &input, size_t dimension) {
  const std::string symbol =
      dimension < input.symbols.size() ? input.symbols[dimension] : "";
  return symbol.empty()
             ? input.spec.name + "[" + std::to_string(dimension) + "]"
             : symbol;
}

Result<void> checkBoundNames(const ModelDescription &model,
                             const SizeBounds &bounds) {
  std::vector<std::string> symbols;
  for (const auto &[symbol, most] : bounds)
    symbols.push_back(symbol);
  return checkSymbols(model, symbols, "max");
}

Result<void> checkBounds(const ModelDescription &model,
                         const SizeBounds &bounds,
                         std::span<const Shape> shapes) {
  if (bounds.empty())
    return {};
  for (size_t i = 0; i < std::min(model.inputs.size(), shapes.size()); ++i)
    for (size_t dim = 0; dim < shapes[i].size(); ++dim) {
      const std::string symbol = symbolOf(model.inputs[i], dim);
      const auto bound = bounds.find(symbol);
      if (bound != bounds.end() && shapes[i][dim] > bound->second)
        return usageError(
            "dimension " + symbol + " is " + std::to_string(shapes[i][dim]) +
            " in input '" + model.inputs[i].spec.name + "', and at most " +
            std::to_string(bound->second) + " by " + optionText("max"));
    }
  return {};
}

/// A binder of the \p requested shapes and the \p given tensors.
static Result<Binder> binderOf(const ModelDescription &model,
                               const NamedShapes &requested,
                               std::span<const std::optional<Tensor>> given) {
  Binder binder(model);
  for (const auto &[name, shape] : requested) {
    const std::optional<size_t> index = model.inputNamed(name);
    if (!index) {
      const std::vector<std::string> names = model.inputNames();
      return withHint(suggestion(name, names),
                      usageError(optionText("shape") + ": there is no input '" +
                                 name + "'"));
    }
    if (Result<void> taken = binder.take(*index, shape, optionText("shape"));
        !taken)
      return taken.takeError();
  }
  for (size_t i = 0; i < given.size() && i < model.inputs.size(); ++i)
    if (given[i])
      if (Result<void> taken =
              binder.take(i, given[i]->shape(), "the given tensor");
          !taken)
        return taken.takeError();
  binder.spreadSymbols();
  return binder;
}

Result<std::vector<Shape>>
knownShapes(const ModelDescription &model, const NamedShapes &requested,
            std::span<const std::optional<Tensor>> given) {
  Result<Binder> binder = binderOf(model, requested, given);
  if (!binder)
    return binder.takeError();
  return std::move(binder->shapes);
}

Result<std::vector<Shape>>
bindShapes(const ModelDescription &model, const NamedShapes &requested,
           std::span<const std::optional<Tensor>> given,
           const std::function<void(const std::string &)> &note) {
  Result<Binder> made = binderOf(model, requested, given);
  if (!made)
    return made.takeError();
  Binder &binder = *made;
  const std::string batch = binder.firstOpen(/*isBatch=*/true);
  const std::string assumed = binder.assumeBatch();
  if (const std::string open = binder.open(); !open.empty())
    return withHint("give it with " + optionText("shape") + " " +
                        binder.firstOpen(/*isBatch=*/false) +
                        "=SIZE or an input",
                    usageError(open + " is unknown"));
  if (!assumed.empty() && note)
    note("the first dimension of " + assumed + " is dynamic and taken as 1; " +
         optionText("shape") + " " + batch + "=SIZE sets it");
  for (size_t i = 0; i < binder.shapes.size(); ++i)
    if (!byteCount(model.inputs[i].spec.type, binder.shapes[i]))
      return usageError("input '" + model.inputs[i].spec.name +
                        "' is too large: " +
                        toString(model.inputs[i].spec.type, binder.shapes[i]));
  return std::move(binder.shapes);
}

} // namespace sinter
