#include "runtime/StatePairs.h"

#include "runtime/Text.h"

#include <algorithm>

namespace sinter {

std::vector<std::string> statePairs(std::string_view text) {
  std::vector<std::string> pairs = partsOf(text, '\n');
  std::erase(pairs, "");
  return pairs;
}

std::optional<std::pair<size_t, size_t>>
findStatePair(std::string_view pair, const std::vector<std::string> &outputs,
              const InputNamed &inputNamed) {
  // The line comes from strangers, and so do the names: each output is looked
  // at once, however many equals signs there are.
  std::optional<std::pair<size_t, size_t>> found;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string &output = outputs[i];
    if ((found && outputs[found->first].size() <= output.size()) ||
        !pair.starts_with(output) ||
        !pair.substr(output.size()).starts_with('='))
      continue;
    if (const auto input = inputNamed(pair.substr(output.size() + 1)))
      found = std::pair(i, *input);
  }
  return found;
}

std::optional<std::pair<size_t, size_t>>
findStatePair(std::string_view pair, const std::vector<std::string> &outputs,
              const std::vector<std::string> &inputs) {
  return findStatePair(pair, outputs,
                       [&](std::string_view name) -> std::optional<size_t> {
                         const auto input = std::ranges::find(inputs, name);
                         if (input == inputs.end())
                           return std::nullopt;
                         return static_cast<size_t>(input - inputs.begin());
                       });
}

} // namespace sinter
