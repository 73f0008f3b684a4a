//===- Inputs.h - tensors for a model's inputs ----------------------------===//

#ifndef SINTER_DRIVER_INPUTS_H
#define SINTER_DRIVER_INPUTS_H

#include "driver/CommonOptions.h"
#include "engine/Session.h"
#include "runtime/Image.h"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace sinter::driver {

struct InputOptions {
  /// "[name=]file.npy|file.pb|image|random[:seed]|numbers"
  std::vector<std::string> inputs;
  std::vector<double> mean, std;
  std::optional<double> scale;
  std::optional<std::string> layout;
};

/// --input and how pictures become tensors.
void addInputs(CLI::App &app, InputOptions &options);
/// --mean, --std, --scale and --layout alone, in \p group of the help.
void addPictures(CLI::App &app, InputOptions &options,
                 const std::string &group);

/// How pictures become tensors, by the options.
ImageOptions imageOptions(const InputOptions &options);

/// The seed in "random" or "random:SEED", the value of \p flag; nothing for
/// other texts. Usage error where SEED is no number.
Result<std::optional<uint64_t>> randomSeed(const std::string &flag,
                                           const std::string &text);

/// The tensor in a .npy or .pb file that is to be of \p type: what a file of
/// NumPy has in place of a type that NumPy lacks becomes that type.
Result<Tensor> readTensor(const std::string &path, ElementType type);

/// A session that is prepared for its inputs.
struct ReadySession {
  std::shared_ptr<Session> session;
  std::vector<Tensor> inputs;
};

/// Opens the model that the options name, loads its inputs (see loadInputs) and
/// prepares it for them.
Result<ReadySession> openSession(const CommonOptions &common,
                                 const InputOptions &options, bool fillRandom);
/// The same of the model at \p path.
Result<ReadySession> openSession(const std::string &path, SessionOptions wanted,
                                 const InputOptions &options, bool fillRandom);

/// A tensor for every input of the session's model. Where \p fillRandom, inputs
/// for which nothing is given are random; else they are a Usage error that
/// names them.
Result<std::vector<Tensor>> loadInputs(const Session &session,
                                       const std::string &modelPath,
                                       const InputOptions &options,
                                       const NamedShapes &shapes,
                                       bool fillRandom);

} // namespace sinter::driver

#endif // SINTER_DRIVER_INPUTS_H
