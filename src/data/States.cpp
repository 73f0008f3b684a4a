//===- States.cpp - states in files ---------------------------------------===//

#include "data/States.h"

#include "data/Inputs.h"
#include "data/TensorFiles.h"
#include "runtime/Npy.h"
#include "runtime/Suggestions.h"
#include "runtime/TensorNames.h"

#include <algorithm>
#include <filesystem>

namespace sinter {

namespace fs = std::filesystem;

std::vector<std::string> stateFileNames(const std::vector<std::string> &names,
                                        std::set<std::string> &used) {
  std::vector<std::string> files;
  for (const std::string &name : names)
    files.push_back(fileName("state_" + name, used) + ".npy");
  return files;
}

/// Sets a state to the tensor in the file \p path.
static Result<void> giveState(Executor &executor, size_t index,
                              const std::string &path) {
  const TensorSpec &spec = executor.states()[index];
  Result<Tensor> tensor = readTensor(path, spec.type);
  if (!tensor)
    return tensor.takeError();
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

/// Parses "NAME=FILE"; \p what names it in messages.
static Result<void> giveNamed(Executor &executor, const std::string &argument,
                              std::set<size_t> &given,
                              const std::string &what) {
  const std::vector<std::string> names = namesOf(executor.states());
  // Names may contain an equals sign.
  for (size_t sign = argument.find('='); sign != std::string::npos;
       sign = argument.find('=', sign + 1)) {
    const auto found = std::ranges::find(names, argument.substr(0, sign));
    if (found == names.end())
      continue;
    const size_t index = found - names.begin();
    if (!given.insert(index).second)
      return usageError(what + ": '" + *found + "' is given twice");
    return giveState(executor, index, argument.substr(sign + 1));
  }
  const size_t sign = argument.find('=');
  if (sign == std::string::npos || sign == 0)
    return usageError(what + " '" + argument +
                      "': expected a state's name and a file, as in "
                      "count=count.npy; there are " +
                      quotedList(names));
  return usageError(what + ": there is no state '" + argument.substr(0, sign) +
                    "'; there are " + quotedList(names));
}

Result<void> giveStates(Executor &executor, const StateOptions &options) {
  if (executor.states().empty() &&
      (!options.given.empty() || !options.folder.empty()))
    return usageError(
        (options.given.empty() ? options.names.folder : options.names.given) +
        ": this model has no states");
  if (!options.folder.empty()) {
    std::set<std::string> used;
    const std::vector<std::string> files =
        stateFileNames(namesOf(executor.states()), used);
    for (size_t i = 0; i < files.size(); ++i) {
      const std::string path = options.folder + "/" + files[i];
      std::error_code ignored;
      if (!fs::exists(path, ignored))
        continue;
      if (Result<void> done = giveState(executor, i, path); !done)
        return done;
    }
  }
  std::set<size_t> given;
  for (const std::string &argument : options.given)
    if (Result<void> done =
            giveNamed(executor, argument, given, options.names.given);
        !done)
      return done;
  return {};
}

Result<void> writeStates(const Executor &executor,
                         const std::vector<Tensor> &states,
                         const std::string &folder) {
  if (folder.empty())
    return {};
  std::set<std::string> used;
  const std::vector<std::string> files =
      stateFileNames(namesOf(executor.states()), used);
  for (size_t i = 0; i < files.size(); ++i)
    if (Result<void> written = writeNpy(folder + "/" + files[i], states[i]);
        !written)
      return written;
  return {};
}

} // namespace sinter
