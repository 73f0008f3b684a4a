//===- Text.h - texts for the user ----------------------------------------===//

#ifndef SINTER_DRIVER_TEXT_H
#define SINTER_DRIVER_TEXT_H

#include <string>

namespace sinter::driver {

/// printf into a string.
[[gnu::format(printf, 1, 2)]] std::string text(const char *format, ...);

/// A count of bytes as "12.3 MB" (powers of ten).
std::string bytesText(double bytes);

/// \p text as it stands in HTML and SVG.
std::string escaped(const std::string &text);

/// One line to standard error: "error: ...", control characters replaced.
void printError(const std::string &message);
/// "note: ..." likewise.
void printNote(const std::string &message);

} // namespace sinter::driver

#endif // SINTER_DRIVER_TEXT_H
