//===- OptionNames.h - options in messages --------------------------------===//
//
// Libraries and the command have the same options, and write them differently.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_OPTIONNAMES_H
#define SINTER_RUNTIME_OPTIONNAMES_H

#include <string>
#include <string_view>

namespace sinter {

/// How messages of this process write the option \p name: "shape", or "--shape"
/// if it is the command.
std::string optionText(std::string_view name);

/// From now on options are those of a command line. For the start of a program
/// that has one, before any message.
void nameOptionsOfCommandLine();

} // namespace sinter

#endif // SINTER_RUNTIME_OPTIONNAMES_H
