//===- BranchSearch.h - decides which branches a graph assumes ------------===//
//
// A graph with dynamic dimensions cannot have both branches of some nodes
// (formats/import/BranchDecisions.h). Each takes the branch that the inputs at
// hand take. Without such inputs, it takes the first branch with which the rest
// of the file can be translated.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_ENGINE_COMPILER_BRANCHSEARCH_H
#define SINTER_ENGINE_COMPILER_BRANCHSEARCH_H

#include "formats/Format.h"

#include <functional>
#include <map>

namespace sinter {

/// The nodes that take one of their branches: whether it is the first.
using TakenBranches = std::map<std::string, bool>;

class BranchSearch {
public:
  /// \p known: the branches that the inputs at hand take; called at most once,
  /// when the first node needs a decision.
  explicit BranchSearch(std::function<TakenBranches()> known)
      : askKnown(std::move(known)) {}

  /// Translates \p file with \p options: once if all decisions are known, else
  /// until it succeeds, at most 64 times. The error is that of a translation
  /// without the decisions that are not known.
  Result<Model> read(ModelFile &file, ReadOptions options);
  /// Whether the last graph assumes branches.
  bool hasDecided() const { return decides; }

private:
  std::optional<bool> decide(const std::string &place);

  std::function<TakenBranches()> askKnown;
  std::optional<TakenBranches> known;
  /// The choices so far, in the order of the nodes, and the number of those
  /// that this translation has come to.
  std::vector<bool> chosen;
  size_t next = 0;
  bool mayChoose = true, decides = false;
};

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_BRANCHSEARCH_H
