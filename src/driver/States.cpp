//===- States.cpp - what outlives a run, given and taken by the user ------===//

#include "driver/States.h"

#include "driver/Inputs.h"
#include "driver/OutputFiles.h"
#include "engine/Binding.h"
#include "runtime/Npy.h"

#include <CLI/CLI.hpp>
#include <filesystem>

namespace sinter::driver {

namespace fs = std::filesystem;

void addStates(CLI::App &app, StateOptions &options, bool writes) {
  app.add_option("--state", options.given,
                 "what a state (a tensor that outlives a run) holds at first; "
                 "may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME=FILE")
      ->group("Input");
  app.add_option("--state-dir", options.folder,
                 writes ? "keep states from command to command: read "
                          "state_NAME.npy there at the start, where there is "
                          "one, and write it at the end"
                        : "read the states from state_NAME.npy there, where "
                          "there is one; the files stay as they are")
      ->type_name("DIR")
      ->group("Input");
}

static std::vector<std::string> namesOf(const Executor &executor) {
  std::vector<std::string> names;
  for (const TensorSpec &spec : executor.states())
    names.push_back(spec.name);
  return names;
}

std::vector<std::string> stateFileNames(const Executor &executor,
                                        std::set<std::string> &used) {
  std::vector<std::string> files;
  for (const TensorSpec &spec : executor.states())
    files.push_back(fileName("state_" + spec.name, used));
  return files;
}

/// Puts the tensor in the file \p path into a state.
static Result<void> giveState(Executor &executor, size_t index,
                              const std::string &path) {
  const TensorSpec &spec = executor.states()[index];
  Result<Tensor> tensor = readTensor(path, spec.type);
  if (!tensor) {
    // A file that the user names is the user's choice, not a model's flaw.
    Error error = tensor.takeError();
    if (error.kind == ErrorKind::InvalidModel)
      error.kind = ErrorKind::Usage;
    return error;
  }
  if (tensor->type() == spec.type && tensor->shape() == spec.shape)
    return executor.setState(index, *tensor);
  std::string all;
  for (const TensorSpec &state : executor.states())
    all += (all.empty() ? "'" : ", '") + state.name + "' " +
           toString(state.type, state.shape);
  return usageError("state '" + spec.name + "': expected " +
                    toString(spec.type, spec.shape) + ", '" + path + "' has " +
                    toString(tensor->type(), tensor->shape()) +
                    "; the states are " + all);
}

/// What one --state says.
static Result<void> giveNamed(Executor &executor, const std::string &argument,
                              std::set<size_t> &given) {
  const std::vector<std::string> names = namesOf(executor);
  // Names may have an equals sign, too.
  for (size_t sign = argument.find('='); sign != std::string::npos;
       sign = argument.find('=', sign + 1)) {
    const auto found = std::ranges::find(names, argument.substr(0, sign));
    if (found == names.end())
      continue;
    const size_t index = found - names.begin();
    if (!given.insert(index).second)
      return usageError("--state: '" + *found + "' is given twice");
    return giveState(executor, index, argument.substr(sign + 1));
  }
  const size_t sign = argument.find('=');
  if (sign == std::string::npos || sign == 0)
    return usageError("--state '" + argument +
                      "': expected a state's name and a file, as in "
                      "count=count.npy; there are " +
                      quotedList(names));
  return usageError("--state: there is no state '" + argument.substr(0, sign) +
                    "'; there are " + quotedList(names));
}

Result<void> giveStates(Executor &executor, const StateOptions &options) {
  if (executor.states().empty() &&
      (!options.given.empty() || !options.folder.empty()))
    return usageError(
        std::string(options.given.empty() ? "--state-dir" : "--state") +
        ": nothing of this model outlives a run");
  if (!options.folder.empty()) {
    std::set<std::string> used;
    const std::vector<std::string> files = stateFileNames(executor, used);
    for (size_t i = 0; i < files.size(); ++i) {
      const std::string path = options.folder + "/" + files[i] + ".npy";
      std::error_code ignored;
      if (!fs::exists(path, ignored))
        continue;
      if (Result<void> done = giveState(executor, i, path); !done)
        return done;
    }
  }
  std::set<size_t> given;
  for (const std::string &argument : options.given)
    if (Result<void> done = giveNamed(executor, argument, given); !done)
      return done;
  return {};
}

std::vector<Tensor> statesOf(const Executor &executor) {
  std::vector<Tensor> states;
  for (size_t i = 0; i < executor.states().size(); ++i)
    states.push_back(executor.state(i));
  return states;
}

Result<void> writeStates(const Executor &executor,
                         const std::vector<Tensor> &states,
                         const std::string &folder) {
  if (folder.empty())
    return {};
  std::set<std::string> used;
  const std::vector<std::string> files = stateFileNames(executor, used);
  for (size_t i = 0; i < files.size(); ++i)
    if (Result<void> written =
            writeNpy(folder + "/" + files[i] + ".npy", states[i]);
        !written)
      return written;
  return {};
}

} // namespace sinter::driver
