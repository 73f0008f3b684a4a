//===- Utf8.cpp - text in UTF-8 -------------------------------------------===//

#include "runtime/Utf8.h"

#include <cstdint>

namespace sinter {

size_t utf8Length(std::string_view text) {
  const auto byte = [&](size_t i) {
    return static_cast<unsigned char>(text[i]);
  };
  const unsigned char lead = byte(0);
  const size_t length = lead < 0x80            ? 1
                        : lead >> 5 == 0b110   ? 2
                        : lead >> 4 == 0b1110  ? 3
                        : lead >> 3 == 0b11110 ? 4
                                               : 0;
  if (length <= 1)
    return length;
  if (text.size() < length)
    return 0;
  uint32_t code = lead & (0x7Fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if (byte(i) >> 6 != 0b10)
      return 0;
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  constexpr uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool isSurrogate = code >= 0xD800 && code <= 0xDFFF;
  return code < smallest[length] || code > 0x10FFFF || isSurrogate ? 0 : length;
}

std::optional<char32_t> takeUtf8(std::string_view &text) {
  const size_t length = text.empty() ? 0 : utf8Length(text);
  if (length == 0)
    return std::nullopt;
  const auto first = static_cast<unsigned char>(text[0]);
  char32_t character = length == 1 ? first : first & (0x7FU >> length);
  for (size_t i = 1; i < length; ++i)
    character = character << 6 | (static_cast<unsigned char>(text[i]) & 0x3FU);
  text.remove_prefix(length);
  return character;
}

std::string shortened(std::string_view text, size_t most) {
  if (text.size() <= most)
    return std::string(text);
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80)
    --most;
  return std::string(text.substr(0, most)) + "...";
}

bool appendUtf8(std::string &text, char32_t character) {
  if (character > 0x10FFFF || (character >= 0xD800 && character < 0xE000))
    return false;
  if (character < 0x80) {
    text += static_cast<char>(character);
    return true;
  }
  const int more = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
  text += static_cast<char>((0xFF00U >> (more + 1) & 0xFFU) |
                            character >> 6 * more);
  for (int i = more; i-- > 0;)
    text += static_cast<char>(0x80U | (character >> 6 * i & 0x3FU));
  return true;
}

} // namespace sinter
