//===- BranchChoice.h - a node that takes one of two graphs ---------------===//
//
//   If(size == 1) { Squeeze } else { Identity }
//
// Two branches do not become one operation if their results differ in rank, or
// if one of them is not a valid graph for the given shapes. The caller that
// imports the file for a program then decides which branch to take
// (BranchDecisions), and the graph records that with `nn.assume`.
//
// Restrictions: nodes of the main graph. An assumption inside a branch or a
// loop would also constrain runs that never execute it.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_IMPORT_BRANCHCHOICE_H
#define SINTER_FORMATS_IMPORT_BRANCHCHOICE_H

#include "formats/import/GraphBuilder.h"

namespace sinter::formats {

/// The decisions that were made, by the positions of the nodes.
using DecidedBranches = std::map<std::string, bool>;

class BranchChoice {
public:
  /// For the node at \p place.
  BranchChoice(GraphBuilder &builder, DecidedBranches &decided,
               std::string place)
      : builder(builder), decisions(builder.readOptions().branches),
        decided(decided), place(std::move(place)) {}

  /// Reports that the condition is known, and which branch is taken.
  void tell(bool isFirst) const;
  /// Returns the branch that was decided on, if any, and emits the assumption
  /// that \p condition (a scalar i1) selects it.
  std::optional<bool> assume(mlir::Value condition) const;
  /// Asks for a decision; returns whether there is one from now on.
  bool decide();

private:
  GraphBuilder &builder;
  const BranchDecisions &decisions;
  DecidedBranches &decided;
  std::string place;
};

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_BRANCHCHOICE_H
