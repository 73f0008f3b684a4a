#include "driver/Sweep.h"

#include "driver/Text.h"
#include "engine/NamedSizes.h"

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

Result<NamedShapes> Sweep::shapesAt(int64_t size, const ModelDescription &model,
                                    const NamedShapes &given) const {
  return withSizes(model, {{symbol, size}}, given, "sweep");
}

} // namespace sinter::driver
