//===- ProveMovement.h - rules that only move elements --------------------===//
//
// Such a rule is code. It is tried on random chains of operations that move
// elements, of ranks up to 4, and wherever it applies a solver looks for an
// index at which the value that it gives differs from the one that was there.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_TEST_PASSES_PROOFS_PROVEMOVEMENT_H
#define SINTER_TEST_PASSES_PROOFS_PROVEMOVEMENT_H

#include <map>
#include <string>

namespace sinter::test {

struct MovementVerdict {
  /// How often it was proved, by the rank of the result.
  std::map<int64_t, unsigned> proved;
  unsigned undecided = 0;
  /// The graph in which it is wrong, and where; "" if in none.
  std::string wrong;
};

/// By "label | picture". Rules of which the operation was never made are left
/// out. The chains follow from \p seed.
std::map<std::string, MovementVerdict> proveMovement(unsigned chains,
                                                     uint64_t seed);

/// "proved on indices: ranks 1 2 3 4".
std::string summary(const MovementVerdict &verdict);

} // namespace sinter::test

#endif // SINTER_TEST_PASSES_PROOFS_PROVEMOVEMENT_H
