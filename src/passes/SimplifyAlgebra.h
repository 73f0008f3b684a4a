//===- SimplifyAlgebra.h - identities, applied until none matches ---------===//
//
//   x + 0            ->  x
//   transpose(transpose(x))  ->  transpose(x), or x
//   shape(x : 2x3)   ->  [2, 3]
//
// and all the others that --list-patterns shows under simplify-algebra.
//
// Restrictions:
//   - A value is only replaced by one of exactly its type.
//   - No identity changes a result, -0.0 and NaN included, beyond its
//     allowances; those with `-relaxed` are off unless enabled.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_SIMPLIFYALGEBRA_H
#define SINTER_PASSES_SIMPLIFYALGEBRA_H

#include "mlir/Pass/Pass.h"
#include "passes/PatternLabels.h"

namespace sinter {

std::unique_ptr<mlir::Pass>
createSimplifyAlgebra(std::shared_ptr<PatternRun> run = nullptr);

} // namespace sinter

#endif // SINTER_PASSES_SIMPLIFYALGEBRA_H
