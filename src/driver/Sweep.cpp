#include "driver/Sweep.h"

#include "driver/Text.h"

#include <algorithm>

namespace sinter::driver {

Result<Sweep> Sweep::parse(const std::string &text) {
  const auto wrong = [&](const std::string &why) {
    return usageError("--sweep '" + text + "': " + why +
                      "; expected a dimension's name and its sizes, as in "
                      "sequence=16,33,128");
  };
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0)
    return wrong("there is no name");
  Sweep sweep{text.substr(0, equals), {}};
  for (const std::string &part :
       partsOf(std::string_view(text).substr(equals + 1), ',')) {
    const std::optional<int64_t> size = parseSize(part);
    if (!size)
      return wrong("'" + part + "' is no size");
    sweep.sizes.push_back(*size);
  }
  return sweep;
}

/// The symbols of dynamic dimensions, each once.
static std::vector<std::string> symbolsOf(const ModelDescription &model) {
  std::vector<std::string> symbols;
  for (const ModelInput &input : model.inputs)
    for (const std::string &symbol : input.symbols)
      if (!symbol.empty() &&
          std::find(symbols.begin(), symbols.end(), symbol) == symbols.end())
        symbols.push_back(symbol);
  return symbols;
}

Result<NamedShapes> Sweep::shapesAt(int64_t size, const ModelDescription &model,
                                    const NamedShapes &given) const {
  // By the main names of the inputs.
  NamedShapes shapes;
  for (const auto &[name, shape] : given) {
    const std::optional<size_t> index = model.inputNamed(name);
    shapes[index ? model.inputs[*index].spec.name : name] = shape;
  }
  bool isThere = false;
  for (const ModelInput &input : model.inputs)
    for (size_t axis = 0; axis < input.symbols.size(); ++axis) {
      if (input.symbols[axis] != symbol)
        continue;
      isThere = true;
      Shape &shape =
          shapes.emplace(input.spec.name, input.spec.shape).first->second;
      if (axis >= shape.size() || (shape[axis] >= 0 && shape[axis] != size))
        return usageError("--sweep: --shape of '" + input.spec.name +
                          "' leaves dimension '" + symbol + "' no other size");
      shape[axis] = size;
    }
  if (isThere)
    return shapes;
  const std::vector<std::string> symbols = symbolsOf(model);
  return withHint(
      symbols.empty() ? "none has a name" : suggestion(symbol, symbols),
      usageError("--sweep: no unknown dimension is called '" + symbol + "'"));
}

} // namespace sinter::driver
