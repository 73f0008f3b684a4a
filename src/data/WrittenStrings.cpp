#include "data/WrittenStrings.h"

#include "runtime/Strings.h"
#include "runtime/Text.h"

#include <nlohmann/json.hpp>

namespace sinter {

/// Appends the strings in \p value, whose arrays nest as the dimensions from
/// \p axis on; false if they do not.
static bool addStrings(const nlohmann::json &value, size_t axis, Shape &shape,
                       std::vector<std::string> &texts) {
  constexpr size_t mostDimensions = 64;
  if (value.is_string()) {
    texts.push_back(value.get<std::string>());
    return axis == shape.size();
  }
  if (!value.is_array() || axis > mostDimensions)
    return false;
  const auto size = static_cast<int64_t>(value.size());
  // The first string shows how deep they nest.
  if (axis == shape.size() && texts.empty())
    shape.push_back(size);
  if (axis >= shape.size() || shape[axis] != size)
    return false;
  for (const nlohmann::json &each : value)
    if (!addStrings(each, axis + 1, shape, texts))
      return false;
  return true;
}

Result<Tensor> writtenStrings(const std::string &what, const std::string &text,
                              const TensorSpec &spec) {
  const std::string given = what + " '" + spec.name + "=" + text + "'";
  Shape shape;
  std::vector<std::string> texts;
  if (text.starts_with('[') || text.starts_with('"')) {
    const nlohmann::json parsed =
        nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!addStrings(parsed, 0, shape, texts))
      return usageError(given + " is no JSON of strings in arrays of the same "
                                "sizes");
  } else if (spec.shape.empty()) {
    texts = {text};
  } else {
    texts = partsOf(text, ',');
    shape = {static_cast<int64_t>(texts.size())};
  }
  if (!fits(spec, ElementType::STRING, shape))
    return usageError(given + " is no " + toString(spec.type, spec.shape) +
                      " but " + toString(ElementType::STRING, shape));
  return stringTensor(shape, std::span<const std::string>(texts));
}

} // namespace sinter
