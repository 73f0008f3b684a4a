#include "runtime/NpyStrings.h"

#include "runtime/Strings.h"
#include "runtime/Utf8.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace sinter {

Result<Tensor> readNpyStrings(const NpyStrings &form, const Shape &shape,
                              const std::byte *data) {
  if (form.length == 0)
    return Tensor(ElementType::STRING, shape);
  std::vector<std::string> texts(
      static_cast<size_t>(elementCount(shape).value_or(0)));
  for (std::string &text : texts) {
    const std::byte *next = data;
    data += form.bytes();
    if (!form.isUnicode) {
      text.assign(reinterpret_cast<const char *>(next),
                  static_cast<size_t>(form.length));
      text.resize(text.find_last_not_of('\0') + 1);
      continue;
    }
    std::u32string characters;
    for (int64_t i = 0; i < form.length; ++i, next += 4) {
      uint32_t character;
      std::memcpy(&character, next, sizeof character);
      if (form.bigEndian)
        character = __builtin_bswap32(character);
      characters += static_cast<char32_t>(character);
    }
    characters.resize(characters.find_last_not_of(U'\0') + 1);
    for (const char32_t character : characters)
      if (!appendUtf8(text, character))
        return systemError("a string has a character that Unicode lacks");
  }
  return stringTensor(shape, std::span<const std::string>(texts));
}

NpyStrings npyFormOf(const Tensor &tensor) {
  NpyStrings form{true, 1, false};
  size_t longest = 1;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    std::string_view text = stringAt(tensor, i);
    longest = std::max(longest, text.size());
    int64_t length = 0;
    while (form.isUnicode && !text.empty()) {
      form.isUnicode = takeUtf8(text).has_value();
      ++length;
    }
    form.length = std::max(form.length, length);
  }
  if (!form.isUnicode)
    form.length = static_cast<int64_t>(longest);
  return form;
}

Result<std::vector<std::byte>> npyBytesOf(const Tensor &tensor,
                                          const NpyStrings &form) {
  const std::optional<int64_t> bytes =
      byteCount(ElementType::I8, Shape{tensor.size(), form.bytes()});
  if (!bytes)
    return systemError("the strings are too long");
  std::vector<std::byte> all(static_cast<size_t>(*bytes));
  std::byte *next = all.data();
  for (int64_t i = 0; i < tensor.size(); ++i, next += form.bytes()) {
    std::string_view text = stringAt(tensor, i);
    if (text.ends_with('\0'))
      return unsupported("string " + std::to_string(i) +
                         " ends in a zero, which a .npy file cannot have");
    if (!form.isUnicode) {
      std::ranges::copy(std::as_bytes(std::span(text)), next);
      continue;
    }
    for (std::byte *to = next; !text.empty(); to += 4) {
      const auto character =
          static_cast<uint32_t>(takeUtf8(text).value_or(U'\uFFFD'));
      std::memcpy(to, &character, sizeof character);
    }
  }
  return all;
}

} // namespace sinter
