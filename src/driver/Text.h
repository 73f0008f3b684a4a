//===- Text.h - output for the user ---------------------------------------===//

#ifndef SINTER_DRIVER_TEXT_H
#define SINTER_DRIVER_TEXT_H

#include "runtime/Text.h"

#include <cstdint>
#include <cstdio>

namespace sinter::driver {

/// \p text escaped for HTML and SVG.
std::string escaped(const std::string &text);

/// printf for text output: control characters except line breaks are replaced,
/// as by oneLine(). Write errors show at the end (std::ferror).
[[gnu::format(printf, 2, 3)]] void printTo(std::FILE *stream,
                                           const char *format, ...);

/// Prints a line to standard error: "error: ...", with control characters
/// replaced.
void printError(const std::string &message);
/// The same with "note: ...".
void printNote(const std::string &message);
/// Disables printNote(): another process of the same run prints notes.
void muteNotes();

} // namespace sinter::driver

#endif // SINTER_DRIVER_TEXT_H
