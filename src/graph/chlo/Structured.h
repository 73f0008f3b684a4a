//===- Structured.h - the shapes of ragged_dot and scan -------------------===//

#ifndef SINTER_GRAPH_CHLO_STRUCTURED_H
#define SINTER_GRAPH_CHLO_STRUCTURED_H

#include "graph/chlo/ChloOps.h"

namespace sinter::chlo {

/// The result's shape: the groups where they are contracted, the batch
/// dimensions, the free dimensions of lhs and of rhs.
llvm::SmallVector<int64_t> raggedDotShape(RaggedDotOp op);

/// Removes the scanned dimension from \p type, or inserts it.
mlir::Type sliceType(mlir::Type type, int64_t dimension);
mlir::Type stackType(mlir::Type slice, int64_t dimension, int64_t length);

} // namespace sinter::chlo

#endif // SINTER_GRAPH_CHLO_STRUCTURED_H
