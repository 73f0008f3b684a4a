//===- Utf8.h - text in UTF-8 ---------------------------------------------===//

#ifndef SINTER_RUNTIME_UTF8_H
#define SINTER_RUNTIME_UTF8_H

#include <cstddef>
#include <string>
#include <string_view>

namespace sinter {

/// The length of the UTF-8 sequence at the start of \p text, which is not
/// empty, or 0 if it is invalid: truncated, overlong, a surrogate or too large
/// (RFC 3629).
size_t utf8Length(std::string_view text);

} // namespace sinter

#endif // SINTER_RUNTIME_UTF8_H
