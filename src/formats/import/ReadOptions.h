//===- ReadOptions.h - options for importing a model ----------------------===//

#ifndef SINTER_FORMATS_IMPORT_READOPTIONS_H
#define SINTER_FORMATS_IMPORT_READOPTIONS_H

#include "formats/import/BranchDecisions.h"
#include "runtime/Tensor.h"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace sinter {

/// What is known when a model is imported, and what the graph is for.
struct ReadOptions {
  /// Shapes of inputs, by name. They replace dynamic dimensions, also wherever
  /// else their symbols occur.
  std::map<std::string, std::vector<int64_t>> shapes;
  /// Values of inputs, by name, on which the structure of the graph depends
  /// (the shape of a Reshape, the axes of a reduction). The arguments stay,
  /// unused.
  std::map<std::string, Tensor> values;
  /// Whether a node that cannot be translated before some size or value is
  /// known becomes `nn.deferred`, for a graph that is inspected or written
  /// again and not run. The rank and element type of its results must be known.
  /// Otherwise it is Unsupported.
  bool keepsUnknown = false;
  /// Whether such a node becomes operations with dynamic dimensions where
  /// possible: for formats without a node for it. Its group cannot be given
  /// back then.
  bool expandsUnknown = false;
  /// Whether operands with dynamic dimensions that may be 1 are broadcast where
  /// an operation needs equal sizes: for formats without shape guards.
  bool expandsBroadcasts = false;
  /// Whether the file's requirements on run-time values are put into the graph
  /// as `nn.assume`: for a graph that is compiled.
  bool requiresValues = false;
  /// Called for each such requirement, whether it is put into the graph or not;
  /// may be empty.
  std::function<void()> onRequirement;
  /// Whether the model may be written in its own format again, so that what the
  /// writer needs of the file is kept with the graph. keepsNodes implies it.
  bool keepsSource = false;
  /// Whether the model is to be written in its own format again. Then a node
  /// that cannot be translated, or cannot be given back, is kept as it is if
  /// the format can.
  bool keepsNodes = false;
  /// With keepsNodes: whether nodes of operators that the format's standard
  /// does not have become what they are read as, and are errors if they are not
  /// read, rather than nodes again.
  bool standardOperators = false;
  /// Inputs with a default value that the caller provides; they are ordinary
  /// inputs.
  std::set<std::string> replacedDefaults;
  /// With keepsNodes: inputs with a default value become constants.
  bool freezesDefaults = false;
  /// For nodes that choose between two graphs.
  formats::BranchDecisions branches;
  /// Called with what of the file is left out; may be empty.
  std::function<void(const std::string &)> note;
};

} // namespace sinter

#endif // SINTER_FORMATS_IMPORT_READOPTIONS_H
