//===- BranchChoice.h - a node that takes one of two graphs ---------------===//
//
//   If(size == 1) { Squeeze } else { Identity }
//
// Where what two branches give differs in rank, or one of them is no valid
// graph for the sizes at hand, they are not one operation. Whoever reads the
// file for a program decides then which branch it is for, and the graph says so
// with `nn.assume`.
//
// Restrictions: nodes of the main graph. What is assumed in a branch or a loop
// would be asked of runs that do not come there, too.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_IMPORT_BRANCHCHOICE_H
#define SINTER_FORMATS_IMPORT_BRANCHCHOICE_H

#include "formats/import/BranchDecisions.h"
#include "formats/import/GraphBuilder.h"

namespace sinter::formats {

class BranchChoice {
public:
  /// Of the node at \p place.
  BranchChoice(GraphBuilder &builder, const BranchDecisions &decisions,
               std::string place)
      : builder(builder), decisions(decisions), place(std::move(place)) {}

  /// That the condition is known, and which branch is taken.
  void tell(bool isFirst) const;
  /// The branch that was decided for, if one was, which is assumed from here
  /// on; \p condition is a scalar i1.
  std::optional<bool> assume(mlir::Value condition) const;
  /// That somebody must decide.
  void ask() const;

private:
  GraphBuilder &builder;
  const BranchDecisions &decisions;
  std::string place;
};

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_BRANCHCHOICE_H
