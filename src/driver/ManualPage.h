//===- ManualPage.h - manual pages of the command -------------------------===//

#ifndef SINTER_DRIVER_MANUALPAGE_H
#define SINTER_DRIVER_MANUALPAGE_H

#include "driver/OptionTable.h"

#include <span>
#include <string>

namespace sinter::driver {

/// The page sinter-NAME(1) of a command, in the macros of man(7).
std::string manualPage(const CommandTable &command);
/// The page sinter(1), which lists the commands in \p all.
std::string manualPage(const CommandTable &whole,
                       std::span<const CommandTable> all);

} // namespace sinter::driver

#endif // SINTER_DRIVER_MANUALPAGE_H
