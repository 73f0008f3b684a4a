#include "formats/paddle/file/JsonReader.h"

#include "runtime/Utf8.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace sinter::paddle {

bool JsonReader::fail(std::string_view why) {
  if (message.empty())
    message = std::string(why) + " at byte " + std::to_string(before + offset);
  return false;
}

void JsonReader::skipSpace() {
  while (offset < text.size() && (text[offset] == ' ' || text[offset] == '\n' ||
                                  text[offset] == '\r' || text[offset] == '\t'))
    ++offset;
}

size_t JsonReader::position() {
  skipSpace();
  return offset;
}

bool JsonReader::atEnd() { return position() == text.size(); }

JsonReader::Kind JsonReader::peek() {
  skipSpace();
  if (failed() || offset >= text.size())
    return Kind::None;
  switch (text[offset]) {
  case '{':
    return Kind::Object;
  case '[':
    return Kind::Array;
  case '"':
    return Kind::String;
  case 't':
  case 'f':
    return Kind::Bool;
  case 'n':
    return Kind::Null;
  default:
    return text[offset] == '-' || isDigit() ? Kind::Number : Kind::None;
  }
}

//===----------------------------------------------------------------------===//
// Containers
//===----------------------------------------------------------------------===//

bool JsonReader::enter(char opening, const char *what) {
  skipSpace();
  if (failed())
    return false;
  if (offset >= text.size() || text[offset] != opening)
    return fail(std::string(what) + " is expected");
  if (containers.size() >= deepest)
    return fail("JSON nested more than " + std::to_string(deepest) + " deep");
  ++offset;
  containers.push_back({opening == '{', true});
  return true;
}

bool JsonReader::nextMember(bool isObject) {
  skipSpace();
  if (failed())
    return false;
  if (containers.empty() || containers.back().isObject != isObject)
    return fail("JSON is not nested well");
  if (offset >= text.size())
    return fail("the JSON text ends too early");
  if (text[offset] == (isObject ? '}' : ']')) {
    ++offset;
    containers.pop_back();
    return false;
  }
  if (!containers.back().isFirst) {
    if (text[offset] != ',')
      return fail("a comma is expected");
    ++offset;
    skipSpace();
    if (offset < text.size() && (text[offset] == '}' || text[offset] == ']'))
      return fail("a value is expected");
  }
  containers.back().isFirst = false;
  return true;
}

bool JsonReader::nextElement() { return nextMember(false); }

bool JsonReader::nextKey(std::string_view &key) {
  if (!nextMember(true) || !readText(key))
    return false;
  skipSpace();
  if (offset >= text.size() || text[offset] != ':')
    return fail("a colon is expected");
  ++offset;
  return true;
}

bool JsonReader::skip() {
  const size_t outside = containers.size();
  do {
    std::string_view ignoredText;
    Number ignoredNumber;
    bool ignoredBool = false;
    switch (peek()) {
    case Kind::Object:
      enterObject();
      break;
    case Kind::Array:
      enterArray();
      break;
    case Kind::String:
      readText(ignoredText);
      break;
    case Kind::Number:
      readNumber(ignoredNumber);
      break;
    case Kind::Bool:
      readBool(ignoredBool);
      break;
    case Kind::Null:
      takeWord("null");
      break;
    case Kind::None:
      return fail("a value is expected");
    }
    while (!failed() && containers.size() > outside) {
      std::string_view key;
      if (containers.back().isObject ? nextKey(key) : nextElement())
        break;
    }
  } while (!failed() && containers.size() > outside);
  return !failed();
}

bool JsonReader::lookAhead(std::string_view key, std::string &value) {
  value.clear();
  const size_t begin = position(), outside = containers.size();
  if (!enterObject())
    return false;
  for (std::string_view each; nextKey(each);) {
    if (each == key && peek() == Kind::String) {
      readString(value);
      break;
    }
    skip();
  }
  containers.resize(std::min(containers.size(), outside));
  offset = failed() ? offset : begin;
  return !failed();
}

//===----------------------------------------------------------------------===//
// Strings
//===----------------------------------------------------------------------===//

bool JsonReader::readString(std::string &value) {
  std::string_view view;
  if (!readText(view))
    return false;
  value = view;
  return true;
}

bool JsonReader::readText(std::string_view &value) {
  skipSpace();
  if (failed())
    return false;
  if (offset >= text.size() || text[offset] != '"')
    return fail("a string is expected");
  const size_t begin = ++offset;
  for (; offset < text.size(); ++offset) {
    const char each = text[offset];
    if (each == '"') {
      value = text.substr(begin, offset - begin);
      ++offset;
      return true;
    }
    if (each == '\\')
      return unescape(value, begin);
    if (static_cast<unsigned char>(each) < 0x20)
      return fail("a control character in a string");
  }
  return fail("the JSON text ends in a string");
}

/// Continues at the first escape of a string.
bool JsonReader::unescape(std::string_view &value, size_t begin) {
  buffer = text.substr(begin, offset - begin);
  while (offset < text.size()) {
    const char each = text[offset];
    if (static_cast<unsigned char>(each) < 0x20)
      return fail("a control character in a string");
    ++offset;
    if (each == '"') {
      value = buffer;
      return true;
    }
    if (each != '\\')
      buffer.push_back(each);
    else if (!readEscape())
      return false;
  }
  return fail("the JSON text ends in a string");
}

bool JsonReader::readHex(uint32_t &unit) {
  unit = 0;
  if (text.size() - offset < 4)
    return fail("an escape of a string is cut off");
  const char *const begin = text.data() + offset;
  const auto [end, error] = std::from_chars(begin, begin + 4, unit, 16);
  if (error != std::errc() || end != begin + 4)
    return fail("an escape of a string is not valid");
  offset += 4;
  return true;
}

bool JsonReader::readEscape() {
  if (offset >= text.size())
    return fail("the JSON text ends in a string");
  static constexpr std::string_view from = "\"\\/bfnrt", to = "\"\\/\b\f\n\r\t";
  const char kind = text[offset++];
  if (const size_t known = from.find(kind); known != from.npos) {
    buffer.push_back(to[known]);
    return true;
  }
  uint32_t point = 0;
  if (kind != 'u')
    return fail("an escape of a string is not valid");
  if (!readHex(point))
    return false;
  if (point >= 0xD800 && point < 0xE000) {
    uint32_t low = 0;
    if (point >= 0xDC00 || text.substr(offset, 2) != "\\u")
      return fail("half a surrogate pair in a string");
    offset += 2;
    if (!readHex(low))
      return false;
    if (low < 0xDC00 || low >= 0xE000)
      return fail("half a surrogate pair in a string");
    point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
  }
  appendUtf8(buffer, point);
  return true;
}

//===----------------------------------------------------------------------===//
// Numbers and words
//===----------------------------------------------------------------------===//

bool JsonReader::takeDigits() {
  if (!isDigit())
    return fail("a number is not valid");
  while (isDigit())
    ++offset;
  return true;
}

bool JsonReader::readNumber(Number &value) {
  skipSpace();
  if (failed())
    return false;
  const size_t begin = offset;
  if (offset < text.size() && text[offset] == '-')
    ++offset;
  const bool startsWithZero = offset < text.size() && text[offset] == '0';
  if (startsWithZero)
    ++offset;
  else if (!takeDigits())
    return false;
  bool isInteger = true;
  if (offset < text.size() && text[offset] == '.') {
    isInteger = false;
    ++offset;
    if (!takeDigits())
      return false;
  }
  if (offset < text.size() && (text[offset] == 'e' || text[offset] == 'E')) {
    isInteger = false;
    ++offset;
    if (offset < text.size() && (text[offset] == '+' || text[offset] == '-'))
      ++offset;
    if (!takeDigits())
      return false;
  }
  if (startsWithZero && isDigit())
    return fail("a number is not valid");
  const char *const first = text.data() + begin;
  const char *const last = text.data() + offset;
  value.isInteger =
      isInteger &&
      std::from_chars(first, last, value.integer).ec == std::errc();
  if (value.isInteger)
    value.real = static_cast<double>(value.integer);
  else if (std::from_chars(first, last, value.real).ec != std::errc())
    return fail("a number is out of range");
  return true;
}

bool JsonReader::readInteger(int64_t &value) {
  if (peek() != Kind::Number)
    return fail("an integer is expected");
  Number number;
  if (!readNumber(number))
    return false;
  if (!number.isInteger)
    return fail("an integer is expected");
  value = number.integer;
  return true;
}

bool JsonReader::readIntegerOf(std::string_view key, int64_t &value) {
  if (!enterObject())
    return false;
  for (std::string_view each; nextKey(each);)
    if (each == key)
      readInteger(value);
    else
      skip();
  return true;
}

bool JsonReader::takeWord(std::string_view word) {
  skipSpace();
  if (failed() || text.substr(offset, word.size()) != word)
    return fail("a value is expected");
  offset += word.size();
  return true;
}

bool JsonReader::readBool(bool &value) {
  value = peek() == Kind::Bool && text[offset] == 't';
  return takeWord(value ? "true" : "false");
}

} // namespace sinter::paddle
