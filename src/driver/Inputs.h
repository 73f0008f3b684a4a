//===- Inputs.h - tensors for a model's inputs ----------------------------===//

#ifndef SINTER_DRIVER_INPUTS_H
#define SINTER_DRIVER_INPUTS_H

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
