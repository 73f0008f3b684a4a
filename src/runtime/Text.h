//===- Text.h - formatting and parsing ------------------------------------===//

#ifndef SINTER_RUNTIME_TEXT_H
#define SINTER_RUNTIME_TEXT_H

#include <cstdarg>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sinter {

/// printf to a string.
[[gnu::format(printf, 1, 2)]] std::string text(const char *format, ...);
/// The same with a va_list.
[[gnu::format(printf, 1, 0)]] std::string formatted(const char *format,
                                                    va_list arguments);

/// Splits \p text at separators; empty parts are included.
std::vector<std::string> partsOf(std::string_view text, char separator);

/// Parses a size, which is not negative; nothing for other text.
std::optional<int64_t> parseSize(std::string_view text);

/// Formats a byte count as "12.3 MB" (powers of ten).
std::string bytesText(double bytes);

} // namespace sinter

#endif // SINTER_RUNTIME_TEXT_H
