//===- ReadOptions.h - what a model is read for ---------------------------===//

#ifndef SINTER_FORMATS_READOPTIONS_H
#define SINTER_FORMATS_READOPTIONS_H

#include "formats/import/BranchDecisions.h"
#include "runtime/Tensor.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace sinter {

/// How much is known when a model is read, and what it is wanted for.
struct ReadOptions {
  /// Sizes of inputs, by name. They replace unknown dimensions, also wherever
  /// else their symbols occur.
  std::map<std::string, std::vector<int64_t>> shapes;
  /// Values of inputs, by name, where what the graph looks like depends on them
  /// (the shape of a Reshape, the axes of a reduction). The arguments stay, and
  /// nothing reads them.
  std::map<std::string, Tensor> values;
  /// Whether a node that cannot be translated before some size or value is
  /// known becomes `nn.deferred`, for a graph that is looked at or written
  /// again and not run. What it gives must be known in rank and element type.
  /// Otherwise it is Unsupported.
  bool keepsUnknown = false;
  /// Whether such a node becomes operations of unknown sizes as far as there
  /// are any: for formats that have no node of its own for it. Its group cannot
  /// be given back then.
  bool spellsUnknown = false;
  /// Whether what was read may be written in its own format again, so that
  /// what the writer needs of the file is kept with it. keepsNodes includes it.
  bool keepsSource = false;
  /// Whether the model is to be written in its own format again. Then what
  /// cannot be translated, or cannot be given back, is kept as the node that it
  /// is, as far as the format has a way to.
  bool keepsNodes = false;
  /// With keepsNodes: inputs with a default value become constants.
  bool freezesDefaults = false;
  /// Of nodes that choose between two graphs.
  formats::BranchDecisions branches;
  /// Is told what of the file is left out; may be empty.
  std::function<void(const std::string &)> note;
};

} // namespace sinter

#endif // SINTER_FORMATS_READOPTIONS_H
