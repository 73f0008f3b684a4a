//===- StringFunctions.h - what computes with tensors of strings ----------===//
//
// The operations of the dialect `text`, whose definitions (graph/text/
// TextOps.td) they follow. Results have their shape already; strings that are
// made belong to the thread's StringScope (Strings.h).
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_STRINGFUNCTIONS_H
#define SINTER_RUNTIME_STRINGFUNCTIONS_H

#include "runtime/Strings.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace re2 {
class RE2;
} // namespace re2

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

/// A regular expression that is ready to match whole strings.
class StringPattern {
public:
  /// Usage error with the reason if \p pattern is no regular expression, or
  /// takes too much memory.
  static Result<StringPattern> of(std::string_view pattern);

  /// text.full_match.
  void match(const Tensor &texts, Tensor &to) const;

private:
  std::shared_ptr<const re2::RE2> expression;
};

void rankStrings(const Tensor &texts, Tensor &to);

/// The places of strings among others (text.find).
class StringPlaces {
public:
  /// From now on among \p keys; what is known of the same ones stays.
  void setKeys(const Tensor &keys);
  void find(const Tensor &texts, Tensor &to) const;

private:
  std::vector<StringHandle> known;
  std::unordered_map<StringHandle, int64_t> places;
};

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
