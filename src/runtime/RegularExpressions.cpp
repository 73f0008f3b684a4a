// Matching whole strings, by RE2: in linear time whatever the pattern is.

#include "runtime/StringFunctions.h"
#include "runtime/Strings.h"

#include <re2/re2.h>

namespace sinter {

static re2::RE2::Options patternOptions() {
  re2::RE2::Options options;
  options.set_log_errors(false);
  return options;
}

static re2::StringPiece pieceOf(std::string_view text) {
  return {text.data(), text.size()};
}

static Result<void> checkPattern(const re2::RE2 &expression) {
  if (expression.ok())
    return {};
  return usageError("'" + expression.pattern() +
                    "' is no regular expression: " + expression.error());
}

Result<void> checkPattern(std::string_view pattern) {
  return checkPattern(re2::RE2(pieceOf(pattern), patternOptions()));
}

Result<void> matchStrings(const Tensor &texts, std::string_view pattern,
                          Tensor &to) {
  const re2::RE2 expression(pieceOf(pattern), patternOptions());
  if (Result<void> good = checkPattern(expression); !good)
    return good;
  for (int64_t i = 0; i < to.size(); ++i)
    to.set<uint8_t>(
        i, re2::RE2::FullMatch(pieceOf(stringAt(texts, i)), expression));
  return {};
}

} // namespace sinter
