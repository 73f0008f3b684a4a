//===- EightBits.h - an identity tried out on all integers of 8 bits ------===//

#ifndef SINTER_TEST_PASSES_PROOFS_EIGHTBITS_H
#define SINTER_TEST_PASSES_PROOFS_EIGHTBITS_H

#include "passes/IdentityText.h"
#include <optional>
#include <string>

namespace sinter::test {

/// Why a rule is refuted that builds an operation which its type does not have.
inline constexpr char notBuildable[] =
    "the type has no such operation as on the right side";

/// The values of the letters for which the sides differ ("x = -128, y = 3"), if
/// there are any. Throws std::invalid_argument where an operation of the left
/// side is not one of such integers; if only the right side has one, the result
/// is `notBuildable`.
std::optional<std::string>
counterexampleInEightBits(const Term &left, const Term &right, bool isSigned);

} // namespace sinter::test

#endif // SINTER_TEST_PASSES_PROOFS_EIGHTBITS_H
