//===- StringFunctions.h - what computes with tensors of strings ----------===//
//
// The operations of the dialect `text`, whose definitions (graph/text/
// TextOps.td) they follow. Results have their shape already; strings that are
// made belong to the thread's StringScope (Strings.h).
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_STRINGFUNCTIONS_H
#define SINTER_RUNTIME_STRINGFUNCTIONS_H

#include "runtime/Tensor.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sinter {

/// The text of element \p index of a tensor of numbers (text.format).
std::string numberAsString(const Tensor &numbers, int64_t index);
void formatNumbers(const Tensor &numbers, Tensor &to);

/// text.parse. Usage error for a text that is no number of the type of \p to.
Result<void> parseNumbers(const Tensor &texts, Tensor &to);

void concatStrings(const Tensor &lhs, const Tensor &rhs, Tensor &to);

/// \p text in upper or lower case; nothing if it is no UTF-8.
std::optional<std::string> withCase(std::string_view text, bool upper,
                                    std::string_view locale);
/// Usage error for text that is no UTF-8.
Result<void> changeCase(const Tensor &texts, bool upper,
                        std::string_view locale, Tensor &to);

/// Whether \p pattern is a regular expression; Usage error with the reason if
/// it is none, or takes too much memory.
Result<void> checkPattern(std::string_view pattern);
Result<void> matchStrings(const Tensor &texts, std::string_view pattern,
                          Tensor &to);

void rankStrings(const Tensor &texts, Tensor &to);

void findStrings(const Tensor &texts, const Tensor &keys, Tensor &to);

/// The parts of \p text (text.split); a negative \p most is no limit.
std::vector<std::string_view>
partsOfString(std::string_view text, std::string_view delimiter, int64_t most);
void countParts(const Tensor &texts, std::string_view delimiter, int64_t most,
                Tensor &counts);
/// Usage error if a text has more parts than \p parts has room for.
Result<void> splitStrings(const Tensor &texts, std::string_view delimiter,
                          int64_t most, Tensor &parts);

} // namespace sinter

#endif // SINTER_RUNTIME_STRINGFUNCTIONS_H
