//===- IndexFormula.h - which element of what an element is ---------------===//
//
// What operations that only move elements mean, as arithmetic on indices: the
// element of transpose(slice(x)) at (i, j) is x(2 * j + 1, i). Written from the
// specification (openxla.org/stablehlo/spec). Sizes are static, indices are
// the solver's variables.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_TEST_PASSES_PROOFS_INDEXFORMULA_H
#define SINTER_TEST_PASSES_PROOFS_INDEXFORMULA_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include <vector>
#include <z3++.h>

namespace sinter::test {

/// Formulas of elements. A value that no movement gives is a function of its
/// indices of which nothing else is known.
class IndexFormula {
public:
  using Index = std::vector<z3::expr>;

  explicit IndexFormula(z3::context &context) : context(context) {}

  /// The element of \p value at \p index.
  z3::expr element(mlir::Value value, const Index &index);

  /// A formula that holds for an index at which the two differ.
  z3::expr difference(mlir::Value a, mlir::Value b);

private:
  z3::expr number(int64_t value) { return context.int_val(value); }
  z3::expr opaque(mlir::Value value, const Index &index);

  z3::context &context;
  llvm::DenseMap<void *, unsigned> names;
};

} // namespace sinter::test

#endif // SINTER_TEST_PASSES_PROOFS_INDEXFORMULA_H
