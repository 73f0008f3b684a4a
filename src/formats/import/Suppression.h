//===- Suppression.h - boxes that strike out others -----------------------===//

#ifndef SINTER_FORMATS_IMPORT_SUPPRESSION_H
#define SINTER_FORMATS_IMPORT_SUPPRESSION_H

#include "formats/import/GraphBuilder.h"

namespace sinter::formats {

/// The lower and upper edges of boxes along both dimensions, all of one shape.
struct BoxEdges {
  mlir::Value low[2], high[2];
};

/// Whether each box of \p all is struck out by the box \p one of its group,
/// whose last dimension is 1.
using StrikeRule =
    llvm::function_ref<mlir::Value(const BoxEdges &one, const BoxEdges &all)>;

/// Non-maximum suppression: in each group of \p boxes [groups..., N] one after
/// the other, a box that stands strikes out those after it that \p strikes
/// says. What is left of \p standing, booleans of the same shape.
mlir::Value suppress(GraphBuilder &builder, const BoxEdges &boxes,
                     mlir::Value standing, StrikeRule strikes);

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_SUPPRESSION_H
