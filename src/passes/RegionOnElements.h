//===- RegionOnElements.h - a region of scalars, applied to tensors -------===//

#ifndef SINTER_PASSES_REGIONONELEMENTS_H
#define SINTER_PASSES_REGIONONELEMENTS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Region.h"
#include "mlir/IR/Value.h"

namespace sinter {

/// Whether \p region, from scalars to scalars, has elementwise operations only,
/// and no quantised values.
bool appliesToElements(mlir::Region &region);

/// Applies such a region to the elements of \p arguments, tensors of one shape
/// or scalars, which are broadcast to the shape of the last. Returns its
/// results.
llvm::SmallVector<mlir::Value> applyToElements(mlir::Region &region,
                                               mlir::ValueRange arguments,
                                               mlir::OpBuilder &builder,
                                               mlir::Location location);

} // namespace sinter

#endif // SINTER_PASSES_REGIONONELEMENTS_H
