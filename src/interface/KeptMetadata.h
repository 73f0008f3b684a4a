//===- KeptMetadata.h - what a model is to keep for its users -------------===//

#ifndef SINTER_INTERFACE_KEPTMETADATA_H
#define SINTER_INTERFACE_KEPTMETADATA_H

#include "engine/Compiler.h"

#include <string>

namespace CLI {
class App;
} // namespace CLI

namespace sinter {

struct KeptMetadata {
  /// A file with the names of the classes, one a line.
  std::string labels;
  /// Pairs of an output and the input that it becomes in the next run,
  /// "OUTPUT=INPUT".
  std::vector<std::string> states;
  /// Steps of post-processing (post/PostProcessing.h).
  std::vector<std::string> post;
};

/// --labels, --state and --post: set \p kept.
void addKeptMetadata(CLI::App &app, KeptMetadata &kept);

/// Makes the metadata of \p request that of \p kept, and its check that of
/// whether the model has outputs for it.
Result<void> keepInModel(const KeptMetadata &kept, OptimizeRequest &request);

} // namespace sinter

#endif // SINTER_INTERFACE_KEPTMETADATA_H
