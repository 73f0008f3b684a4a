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
  /// "[name=]file.npy|file.pb|image|random[:seed]"
  std::vector<std::string> inputs;
  std::vector<double> mean, std;
  double scale = 1.0 / 255;
  std::string layout = "nchw";
};

/// --input and how pictures become tensors.
void addInputs(CLI::App &app, InputOptions &options);

/// A session that is prepared for its inputs.
struct ReadySession {
  std::unique_ptr<Session> session;
  std::vector<Tensor> inputs;
};

/// Opens the model that the options name, loads its inputs (see loadInputs) and
/// prepares it for them.
Result<ReadySession> openSession(const CommonOptions &common,
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
