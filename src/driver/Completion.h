//===- Completion.h - scripts that complete command lines -----------------===//

#ifndef SINTER_DRIVER_COMPLETION_H
#define SINTER_DRIVER_COMPLETION_H

#include "driver/OptionTable.h"

#include <span>
#include <string>

namespace sinter::driver {

/// A script for bash that completes commands, options, their values and files.
std::string bashCompletion(const CommandTable &whole,
                           std::span<const CommandTable> all);
/// The same for zsh, as a file `_sinter` in a folder of its fpath.
std::string zshCompletion(const CommandTable &whole,
                          std::span<const CommandTable> all);

} // namespace sinter::driver

#endif // SINTER_DRIVER_COMPLETION_H
