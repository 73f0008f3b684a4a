//===- States.h - what outlives a run, given and taken by the user --------===//
//
// A state is kept in a file state_NAME.npy: --output-dir writes it there beside
// the outputs, and a folder given with --state-dir carries it from one command
// to the next.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_DRIVER_STATES_H
#define SINTER_DRIVER_STATES_H

#include "runtime/Executor.h"

#include <set>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace sinter::driver {

struct StateOptions {
  /// "NAME=file.npy".
  std::vector<std::string> given;
  /// Read at the start where there are files.
  std::string folder;
};

/// --state and --state-dir; \p writes: whether the command writes the states
/// into the folder at the end.
void addStates(CLI::App &app, StateOptions &options, bool writes);

/// Puts what the options say into \p executor: first the files of the folder,
/// then those that are named. Usage errors for names that are no state's, which
/// list the states, and for tensors of another type or shape.
Result<void> giveStates(Executor &executor, const StateOptions &options);

/// What the states of \p executor hold now, in order.
std::vector<Tensor> statesOf(const Executor &executor);

/// Writes what the states of \p executor, or of another of the same program,
/// hold into \p folder, unless that is empty.
Result<void> writeStates(const Executor &executor,
                         const std::vector<Tensor> &states,
                         const std::string &folder);

/// The names of the states' files, without an extension, in order. They are
/// put into \p used.
std::vector<std::string> stateFileNames(const Executor &executor,
                                        std::set<std::string> &used);

} // namespace sinter::driver

#endif // SINTER_DRIVER_STATES_H
