//===- ProveIdentity.h - whether both sides are the same for all values ---===//
//
//   "add(subtract(x, y), y) -> x", Integers  =>  proved: i8 i32 i64 ui8 ...
//
// For each type that an identity is for, a solver looks for values for which
// the two sides differ. Integers of 8 bits are tried out, all of them. What a
// rule needs to be allowed is what is taken for granted:
//
//   nonan, noinf     nothing on the left side is NaN, or infinite
//   nosignedzero     -0.0 counts as 0.0 in the result
//   reassociate, contract, reciprocal
//                    the sides are the same real number, wherever nothing is
//                    divided by 0
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_TEST_PASSES_PROOFS_PROVEIDENTITY_H
#define SINTER_TEST_PASSES_PROOFS_PROVEIDENTITY_H

#include "passes/Identities.h"
#include <set>
#include <string>
#include <vector>

namespace sinter::test {

/// What was found out about an identity on one type.
struct Verdict {
  enum Kind {
    Proved,
    Refuted,   ///< `why` has the values
    Undecided, ///< not within the time
    NoTheory,  ///< `why` names the operation
  };
  Kind kind;
  std::string type;
  std::string why;
};

/// One for each type that the identity is for and its operations have.
/// \p seconds: how long one of them may take. \p hopeless: types that are left
/// undecided without a try.
std::vector<Verdict> prove(const Identity &identity, unsigned seconds,
                           const std::set<std::string> &hopeless = {});

/// "proved (i1 i8 i32 f16)", "tested: no theory of power"; what stands in
/// docs/rewrites.md.
std::string summary(const std::vector<Verdict> &verdicts);

} // namespace sinter::test

#endif // SINTER_TEST_PASSES_PROOFS_PROVEIDENTITY_H
