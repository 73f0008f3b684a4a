//===- BranchDecisions.h - which graphs a model is read with --------------===//

#ifndef SINTER_FORMATS_IMPORT_BRANCHDECISIONS_H
#define SINTER_FORMATS_IMPORT_BRANCHDECISIONS_H

#include <functional>
#include <map>
#include <string>

namespace sinter::formats {

/// A node that chooses between two graphs is identified by its position in the
/// file, which does not depend on which sizes are known.
struct BranchDecisions {
  /// Which graph a node of the main graph takes if the two cannot be one
  /// operation with dynamic dimensions. The imported graph then assumes it
  /// (`nn.assume`).
  std::map<std::string, bool> takesFirst;
  /// Called with the position of each such node without a decision, which is
  /// therefore Unsupported; may be empty.
  std::function<void(const std::string &place)> onUndecided;
  /// Called with the graph that a node takes if its condition is known; may be
  /// empty.
  std::function<void(const std::string &place, bool isFirst)> onKnown;
};

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_BRANCHDECISIONS_H
