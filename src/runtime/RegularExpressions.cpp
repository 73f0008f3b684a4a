// Matching whole strings, by RE2: in linear time whatever the pattern is.

#include "runtime/StringFunctions.h"

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

Result<StringPattern> StringPattern::of(std::string_view pattern) {
  StringPattern made;
  auto expression =
      std::make_shared<const re2::RE2>(pieceOf(pattern), patternOptions());
  if (!expression->ok())
    return usageError("'" + expression->pattern() +
                      "' is no regular expression: " + expression->error());
  made.expression = std::move(expression);
  return made;
}

void StringPattern::match(const Tensor &texts, Tensor &to) const {
  for (int64_t i = 0; i < to.size(); ++i)
    to.set<uint8_t>(
        i, re2::RE2::FullMatch(pieceOf(stringAt(texts, i)), *expression));
}

} // namespace sinter
