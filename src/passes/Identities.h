//===- Identities.h - rules written as algebra ----------------------------===//
//
//   {"add-negate", "add(x, negate(y)) -> subtract(x, y)"}
//
// is a whole rule: its text is matched and built, and printed as its diagram.
// In the text
//
//   add(a, b)      an elementwise operation of `stablehlo`, in either order
//                  where it commutes; `compare` is written compare_LT etc.
//   negate!(x)     one that has no other use
//   v              a value that is not constant
//   x, y, z, p     any value, the same one wherever the letter is repeated
//   c, d           a constant, or one that is broadcast
//   0, -0.0, 2     a splat of this number, its sign included; `inf`, `-inf`;
//                  `ones` (all bits set), `least` and `greatest` of integers
//
// The right side's constants, and operations, have the type of the left side's
// result, which is static where the right side has constants.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_IDENTITIES_H
#define SINTER_PASSES_IDENTITIES_H

#include "passes/RewriteRule.h"

namespace sinter {

/// The element types that an identity holds for: those of the operand of a
/// comparison, else of the result.
enum class For {
  /// Booleans, integers, floats and complex numbers.
  Any,
  /// Booleans, signed and unsigned integers.
  Integers,
  Signed,
  Unsigned,
  Booleans,
  Floats,
  /// Signed and unsigned integers, and floats.
  Numbers,
  SignedOrFloats
};

struct Identity {
  llvm::StringLiteral label;
  llvm::StringLiteral text;
  For types = For::Any;
  /// A set of Allowance.
  unsigned needs = exact;
  /// See PatternInfo; its operands match in their order only.
  bool isForm = false;
};

/// The identities, which must outlive the program's rules, as rules. A text
/// that cannot be parsed is a programming error and ends the program.
std::vector<RewriteRule> rulesOf(llvm::ArrayRef<Identity> identities);

} // namespace sinter

#endif // SINTER_PASSES_IDENTITIES_H
