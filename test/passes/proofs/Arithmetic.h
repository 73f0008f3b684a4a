//===- Arithmetic.h - the elementwise operations as formulas --------------===//
//
// What the elementwise operations of StableHLO mean, in the terms of an SMT
// solver: integers as bit-vectors, floats in the theory of IEEE 754, and both
// as real numbers. Written from the specification (openxla.org/stablehlo/spec);
// nothing of the interpreter's is used.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_TEST_PASSES_PROOFS_ARITHMETIC_H
#define SINTER_TEST_PASSES_PROOFS_ARITHMETIC_H

#include "graph/stablehlo/StablehloOps.h"
#include <functional>
#include <map>
#include <string>
#include <vector>
#include <z3++.h>

namespace sinter::test {

/// The meaning of operations on values of one type. A truth value is a
/// bit-vector of one bit everywhere.
struct Arithmetic {
  using Operands = std::vector<z3::expr>;
  using Operation = std::function<z3::expr(const Operands &)>;

  std::string name; ///< "i32", "f16", "real"
  z3::sort sort;
  /// By name in StableHLO, without "stablehlo.".
  std::map<std::string, Operation> operations;
  /// Names of operations that the type has, but no theory of the solver.
  std::vector<std::string> beyondTheory;
  /// What a number or word of an identity is; nothing where the type has no
  /// such value.
  std::function<std::optional<z3::expr>(llvm::StringRef word)> number;
  std::function<z3::expr(stablehlo::ComparisonDirection, const z3::expr &,
                         const z3::expr &)>
      compare;
};

/// Truth values: addition is or, multiplication and.
Arithmetic truthValues(z3::context &context);
/// Two's complement of \p width bits.
Arithmetic integers(z3::context &context, unsigned width, bool isSigned);
/// IEEE 754 with the given numbers of bits, rounded to nearest, ties to even.
Arithmetic floats(z3::context &context, std::string name, unsigned exponent,
                  unsigned mantissa);
/// The real numbers, where a formula is what it is in mathematics.
Arithmetic reals(z3::context &context);

/// A condition as a truth value, and back.
z3::expr truth(const z3::expr &condition);
z3::expr holds(const z3::expr &truth);

z3::expr isNan(const z3::expr &value);
z3::expr isInfinite(const z3::expr &value);
z3::expr isZero(const z3::expr &value);

} // namespace sinter::test

#endif // SINTER_TEST_PASSES_PROOFS_ARITHMETIC_H
