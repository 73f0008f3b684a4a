//===- StatePairs.h - states as pairs of an output and an input -----------===//
//
// Formats without states have them as pairs, "OUTPUT=INPUT", each in a line of
// a file's metadata.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_STATEPAIRS_H
#define SINTER_RUNTIME_STATEPAIRS_H

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sinter {

/// The lines of \p text, each a pair.
std::vector<std::string> statePairs(std::string_view text);

/// The index of an input by its name; nothing if there is none.
using InputNamed = std::function<std::optional<size_t>(std::string_view)>;

/// The indices of the output, of \p outputs, and of the input in \p pair: at
/// the first equals sign with such names around it. Nothing if there is none.
std::optional<std::pair<size_t, size_t>>
findStatePair(std::string_view pair, const std::vector<std::string> &outputs,
              const InputNamed &inputNamed);
/// The same with the names of all inputs.
std::optional<std::pair<size_t, size_t>>
findStatePair(std::string_view pair, const std::vector<std::string> &outputs,
              const std::vector<std::string> &inputs);

} // namespace sinter

#endif // SINTER_RUNTIME_STATEPAIRS_H
