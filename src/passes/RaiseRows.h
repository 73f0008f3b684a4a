//===- RaiseRows.h - raises scatters of elements to scatters of rows ------===//
//
//   scatter(x, [i, 0:m, 0:n], u : kxmxn), element by element, i the same along
//   the dimensions of m and n
//     ->  scatter(x, i : kx1, u) of windows 1xmxn
//
// as ScatterElements with expanded indices is written: a fraction of the
// indices, and whole rows are combined at once.
//
// Restrictions:
//   - Shapes are static; each element has an index for every dimension, in
//     order, joined along the last dimension of the indices.
//   - The windows' dimensions, of which the last one is one, are whole; that
//     their indices count from 0, and that the others do not depend on them,
//     shows in iota, constants, broadcasts, reshapes of 1s and elementwise
//     operations.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_RAISEROWS_H
#define SINTER_PASSES_RAISEROWS_H

#include "passes/RewriteRule.h"

namespace sinter {

llvm::ArrayRef<RewriteRule> raiseRowsRules();

} // namespace sinter

#endif // SINTER_PASSES_RAISEROWS_H
