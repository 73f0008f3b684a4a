#include "formats/stablehlo/AliasWeights.h"

namespace sinter {

bool AliasWeights::see(const TextToken &token, const TextToken &next) {
  constexpr uint64_t heaviest = 1 << 20;
  const bool isOnNewLine = text.substr(last, token.begin - last).find('\n') !=
                           std::string_view::npos;
  last = token.end;
  const bool isAlias = token.kind == TextToken::Kind::Word &&
                       (token.text[0] == '!' || token.text[0] == '#');
  const bool begins = isAlias && next.is('=');
  if (!open.empty() && (begins || (isOnNewLine && depth <= 0))) {
    weights[open] = weight;
    open = {};
  }
  if (begins) {
    open = token.text;
    weight = 1;
    depth = 0;
  } else if (token.is("loc")) {
    open = {};
  } else if (!open.empty() && token.kind == TextToken::Kind::Mark) {
    const char mark = token.text[0];
    depth += mark == '<' || mark == '[' || mark == '{' || mark == '(';
    depth -= mark == '>' || mark == ']' || mark == '}' || mark == ')';
  } else if (!open.empty() && isAlias) {
    const auto known = weights.find(token.text);
    weight += known == weights.end() ? 1 : known->second;
  }
  return weight <= heaviest;
}

} // namespace sinter
