//===- BranchDecisions.h - which graphs a model is read with --------------===//

#ifndef SINTER_FORMATS_IMPORT_BRANCHDECISIONS_H
#define SINTER_FORMATS_IMPORT_BRANCHDECISIONS_H

#include <functional>
#include <map>
#include <string>

namespace sinter::formats {

/// A node that chooses between two graphs is known by its place in the file,
/// the same whatever is known of sizes.
struct BranchDecisions {
  /// Which graph a node of the main graph takes where both cannot be one
  /// operation of unknown sizes. The graph assumes it then (`nn.assume`).
  std::map<std::string, bool> takesFirst;
  /// Is told the places of such nodes of which nothing was decided, and that
  /// are Unsupported therefore; may be empty.
  std::function<void(const std::string &place)> onUndecided;
  /// Is told which graph a node takes of which that is known; may be empty.
  std::function<void(const std::string &place, bool isFirst)> onKnown;
};

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_BRANCHDECISIONS_H
