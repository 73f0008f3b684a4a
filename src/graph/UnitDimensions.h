//===- UnitDimensions.h - reshapes that move dimensions of size 1 ---------===//

#ifndef SINTER_GRAPH_UNITDIMENSIONS_H
#define SINTER_GRAPH_UNITDIMENSIONS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace sinter {

/// If \p op is a transpose, or a reshape between static shapes that adds and
/// removes dimensions of size 1 alone: the operand's dimension for each of the
/// result's, -1 for a dimension of size 1 that a reshape adds.
std::optional<llvm::SmallVector<int64_t>> movedDimensions(mlir::Operation *op);

} // namespace sinter

#endif // SINTER_GRAPH_UNITDIMENSIONS_H
