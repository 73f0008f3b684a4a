//===- States.h - states in files -----------------------------------------===//
//
// A state is stored in a file state_NAME.npy of a folder, which carries it from
// one process to the next.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_DATA_STATES_H
#define SINTER_DATA_STATES_H

#include "engine/ExecutorStates.h"

#include <set>
#include <string>
#include <vector>

namespace sinter {

/// The names of the fields of StateOptions in messages.
struct StateNames {
  std::string given = "given", folder = "folder";
};

struct StateOptions {
  /// "NAME=file.npy".
  std::vector<std::string> given;
  /// Its files, if there are any, are read at the start.
  std::string folder;
  StateNames names;
};

/// Sets the states of \p executor by the options: first from the files of the
/// folder, then from the named ones. Usage errors for unknown names, which list
/// the states, and for tensors of another type or shape.
Result<void> giveStates(Executor &executor, const StateOptions &options);

/// Writes the states of \p executor, or of another of the same program, into \p
/// folder, unless that is empty.
Result<void> writeStates(const Executor &executor,
                         const std::vector<Tensor> &states,
                         const std::string &folder);

/// "state_NAME.npy" for each state of \p names. They are added to \p used, as
/// fileName() does.
std::vector<std::string> stateFileNames(const std::vector<std::string> &names,
                                        std::set<std::string> &used);

} // namespace sinter

#endif // SINTER_DATA_STATES_H
