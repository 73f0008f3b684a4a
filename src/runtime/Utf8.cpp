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

} // namespace sinter
