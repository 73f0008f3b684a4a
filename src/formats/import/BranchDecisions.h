//===- BranchDecisions.h - which graphs a model is read with --------------===//

#ifndef SINTER_FORMATS_IMPORT_BRANCHDECISIONS_H
#define SINTER_FORMATS_IMPORT_BRANCHDECISIONS_H

#include <functional>
#include <optional>
#include <string>

namespace sinter::formats {

/// A node that chooses between two graphs is identified by its position in the
/// file, which does not depend on which sizes are known.
struct BranchDecisions {
  /// Called once with the position of each node of the main graph whose two
  /// graphs cannot be one operation with dynamic dimensions: returns whether
  /// the node takes the first. The imported graph then assumes it
  /// (`nn.assume`). Without a decision the node is Unsupported. May be empty.
  std::function<std::optional<bool>(const std::string &place)> decide;
  /// Called with the graph that a node takes if its condition is known; may be
  /// empty.
  std::function<void(const std::string &place, bool isFirst)> onKnown;
};

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_BRANCHDECISIONS_H
