//===- RegionOnElements.h - a region of scalars, applied to tensors -------===//

#ifndef SINTER_PASSES_REGIONONELEMENTS_H
#define SINTER_PASSES_REGIONONELEMENTS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Region.h"
#include "mlir/IR/Value.h"

namespace sinter {

/// Whether \p region, from scalars to scalars, holds operations that are
/// elementwise only, and no quantised values.
bool appliesToElements(mlir::Region &region);

/// What such a region gives for the elements of \p arguments, tensors of one
/// shape or scalars, which are repeated in the shape of the last.
llvm::SmallVector<mlir::Value> applyToElements(mlir::Region &region,
                                               mlir::ValueRange arguments,
                                               mlir::OpBuilder &builder,
                                               mlir::Location location);

} // namespace sinter

#endif // SINTER_PASSES_REGIONONELEMENTS_H
