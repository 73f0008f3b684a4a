//===- SubCommands.h - the commands of `sinter` ---------------------------===//

#ifndef SINTER_DRIVER_SUBCOMMANDS_H
#define SINTER_DRIVER_SUBCOMMANDS_H

#include "driver/Command.h"

#include <memory>
#include <span>

namespace sinter::driver {

struct SubCommand {
  const char *name;
  const char *summary;
  /// What progress calls it: "quantising".
  const char *activity;
  /// Lines of a command each, indented by two.
  const char *examples;
  std::unique_ptr<Command> (*make)(CLI::App &app);
};

/// All commands, in the order of the help.
std::span<const SubCommand> subCommands();

/// What `sinter` is for: an example of each task.
const char *taskExamples();

} // namespace sinter::driver

#endif // SINTER_DRIVER_SUBCOMMANDS_H
