//===- Text.h - texts for the user ----------------------------------------===//

#ifndef SINTER_DRIVER_TEXT_H
#define SINTER_DRIVER_TEXT_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::driver {

/// printf into a string.
[[gnu::format(printf, 1, 2)]] std::string text(const char *format, ...);

/// The parts of \p text between separators, empty ones included: one more than
/// there are separators.
std::vector<std::string> partsOf(std::string_view text, char separator);

/// A number that is a size: not negative; nothing for other texts.
std::optional<int64_t> parseSize(std::string_view text);

/// A count of bytes as "12.3 MB" (powers of ten).
std::string bytesText(double bytes);
/// "1.5GB", "300 MB", "64KiB" or "4096": a number of bytes, at least one;
/// nothing for other texts.
std::optional<uint64_t> parseBytes(std::string_view text);

/// \p text as it stands in HTML and SVG.
std::string escaped(const std::string &text);

/// One line to standard error: "error: ...", control characters replaced.
void printError(const std::string &message);
/// "note: ..." likewise.
void printNote(const std::string &message);
/// From now on printNote() prints nothing: another process of the same run
/// does.
void muteNotes();

} // namespace sinter::driver

#endif // SINTER_DRIVER_TEXT_H
