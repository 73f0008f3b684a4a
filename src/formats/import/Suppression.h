//===- Suppression.h - non-maximum suppression of boxes -------------------===//

#ifndef SINTER_FORMATS_IMPORT_SUPPRESSION_H
#define SINTER_FORMATS_IMPORT_SUPPRESSION_H

#include "formats/import/GraphBuilder.h"

namespace sinter::formats {

/// The lower and upper edges of boxes along both dimensions, all of one shape.
struct BoxEdges {
  mlir::Value low[2], high[2];
};

/// Whether each box of \p all is suppressed by the box \p one of its group,
/// whose last dimension is 1.
using StrikeRule =
    llvm::function_ref<mlir::Value(const BoxEdges &one, const BoxEdges &all)>;

/// Non-maximum suppression: in each group of \p boxes [groups..., N], in order,
/// a box that is left suppresses the later ones for which \p strikes is true.
/// Returns the boxes left of \p remaining, booleans of the same shape.
mlir::Value suppress(GraphBuilder &builder, const BoxEdges &boxes,
                     mlir::Value remaining, StrikeRule strikes);

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_SUPPRESSION_H
