//===- Command.h - a sub-command of `sinter` ------------------------------===//

#ifndef SINTER_DRIVER_COMMAND_H
#define SINTER_DRIVER_COMMAND_H

#include "runtime/Result.h"

#include <memory>

namespace CLI {
class App;
}

namespace sinter::driver {

struct CommonOptions;

class Command {
public:
  virtual ~Command() = default;

  /// Runs the command with the parsed options. Returns the exit code.
  virtual Result<int> run() = 0;
  /// How it opens its model, the first if there are two; null if it opens none.
  virtual const CommonOptions *modelOptions() const { return nullptr; }
};

/// Each declares its options in \p app, the sub-command.
std::unique_ptr<Command> makeRunCommand(CLI::App &app);
std::unique_ptr<Command> makeBenchCommand(CLI::App &app);
std::unique_ptr<Command> makeOptimizeCommand(CLI::App &app);
std::unique_ptr<Command> makeConvertCommand(CLI::App &app);
std::unique_ptr<Command> makeCompileCommand(CLI::App &app);
std::unique_ptr<Command> makeTargetsCommand(CLI::App &app);
std::unique_ptr<Command> makeTestCommand(CLI::App &app);
std::unique_ptr<Command> makeInspectCommand(CLI::App &app);
std::unique_ptr<Command> makeCompareCommand(CLI::App &app);
std::unique_ptr<Command> makeQuantizeCommand(CLI::App &app);
std::unique_ptr<Command> makeEvaluateCommand(CLI::App &app);
std::unique_ptr<Command> makeTrainCommand(CLI::App &app);
std::unique_ptr<Command> makeReduceCommand(CLI::App &app);

} // namespace sinter::driver

#endif // SINTER_DRIVER_COMMAND_H
