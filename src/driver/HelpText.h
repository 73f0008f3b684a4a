//===- HelpText.h - the help of a command ---------------------------------===//

#ifndef SINTER_DRIVER_HELPTEXT_H
#define SINTER_DRIVER_HELPTEXT_H

#include "driver/OptionTable.h"

#include <span>
#include <string>
#include <vector>

namespace sinter::driver {

/// \p text in lines of at most \p width characters, broken at spaces.
std::vector<std::string> wrapped(const std::string &text, size_t width);

/// The help of a command: usage, examples and options.
std::string helpText(const CommandTable &command, size_t width);
/// The help of `sinter`, whose examples begin it: the commands in \p all.
std::string helpText(const CommandTable &whole,
                     std::span<const CommandTable> all, size_t width);

/// The width of help: that of the terminal from 60 to 100 characters, or 80.
size_t helpWidth();

} // namespace sinter::driver

#endif // SINTER_DRIVER_HELPTEXT_H
