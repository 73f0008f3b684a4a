//===- PreprocessingOptions.h - pre-processing as options -----------------===//

#ifndef SINTER_INTERFACE_PREPROCESSINGOPTIONS_H
#define SINTER_INTERFACE_PREPROCESSINGOPTIONS_H

#include "data/Preprocessing.h"
#include "engine/Compiler.h"

#include <string>

namespace CLI {
class App;
} // namespace CLI

namespace sinter {

/// An option for each of preprocessingOptions(), in \p group of the help.
void addPreprocessing(CLI::App &app, Preprocessing &preprocessing,
                      const std::string &group);

/// The pre-processing that a written model keeps.
struct KeptPreprocessing {
  Preprocessing given;
  /// In its graph, not in its metadata.
  bool embeds = false;

  bool any() const { return embeds || !isEmpty(given); }
};

/// The options of addPreprocessing(), and --embed-preprocessing.
void addKeptPreprocessing(CLI::App &app, KeptPreprocessing &kept);

/// Makes what \p request writes keep it, with what its input keeps already. An
/// embedded one leaves metadata that tell that the input is plain pixels.
Result<void> keepPreprocessing(const KeptPreprocessing &kept,
                               Compiler &compiler, OptimizeRequest &request);

} // namespace sinter

#endif // SINTER_INTERFACE_PREPROCESSINGOPTIONS_H
