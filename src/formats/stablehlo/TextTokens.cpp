#include "formats/stablehlo/TextTokens.h"

#include <algorithm>

namespace sinter {

static bool isDigit(char c) { return c >= '0' && c <= '9'; }
static bool isLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool continuesWord(char c) {
  return isLetter(c) || isDigit(c) || c == '$' || c == '.';
}
/// Whether \p c is the prefix of a name.
static bool isPrefix(char c) {
  return c == '#' || c == '!' || c == '%' || c == '^';
}

/// The start of the next token: after white space and comments.
static size_t skipBlank(std::string_view text, size_t position) {
  while (position < text.size()) {
    const char c = text[position];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\0') {
      ++position;
    } else if (c == '/' && text.substr(position).starts_with("//")) {
      position = std::min(text.find_first_of("\n\r", position), text.size());
    } else {
      break;
    }
  }
  return position;
}

/// The end of a string that starts at \p position; of the text if it is not
/// terminated.
static size_t endOfString(std::string_view text, size_t position) {
  size_t end = position + 1;
  while (end < text.size()) {
    end = text.find_first_of("\"\\", end);
    if (end == std::string_view::npos)
      break;
    if (text[end] == '"')
      return end + 1;
    // A backslash, and what it escapes.
    end += 2;
  }
  return text.size();
}

/// The end of the word that starts at \p position. After a prefix come only
/// digits, or a name that may have dashes.
static size_t endOfWord(std::string_view text, size_t position) {
  const bool isPrefixed = isPrefix(text[position++]);
  const bool isNumber =
      isPrefixed && position < text.size() && isDigit(text[position]);
  auto continues = [&](char c) {
    return isNumber ? isDigit(c) : continuesWord(c) || (isPrefixed && c == '-');
  };
  while (position < text.size() && continues(text[position]))
    ++position;
  return position;
}

TextToken tokenAt(std::string_view text, size_t position) {
  TextToken token;
  token.begin = token.end = skipBlank(text, position);
  if (token.begin == text.size())
    return token;
  const char first = text[token.begin];
  if (first == '"') {
    token.kind = TextToken::Kind::String;
    token.end = endOfString(text, token.begin);
  } else if (isLetter(first) || isPrefix(first) || first == '@') {
    token.kind = TextToken::Kind::Word;
    token.end = endOfWord(text, token.begin);
  } else if (isDigit(first)) {
    token.kind = TextToken::Kind::Number;
    token.end = token.begin;
    while (token.end < text.size() && isDigit(text[token.end]))
      ++token.end;
  } else {
    token.kind = TextToken::Kind::Mark;
    token.end = token.begin + 1;
  }
  token.text = text.substr(token.begin, token.end - token.begin);
  return token;
}

} // namespace sinter
