//===- Utf8.h - text in UTF-8 ---------------------------------------------===//

#ifndef SINTER_RUNTIME_UTF8_H
#define SINTER_RUNTIME_UTF8_H

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sinter {

/// The length of the UTF-8 sequence at the start of \p text, which is not
/// empty, or 0 if it is invalid: truncated, overlong, a surrogate or too large
/// (RFC 3629).
size_t utf8Length(std::string_view text);

/// Removes the character at the start of \p text; nothing, and \p text stays,
/// if there is no valid one.
std::optional<char32_t> takeUtf8(std::string_view &text);

/// \p text; if it has more than \p most bytes, no more than these of its
/// beginning, whole characters, and "...".
std::string shortened(std::string_view text, size_t most);

/// Appends \p character; false if it is none: a surrogate or too large.
bool appendUtf8(std::string &text, char32_t character);

} // namespace sinter

#endif // SINTER_RUNTIME_UTF8_H
