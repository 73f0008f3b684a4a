//===- RegionOnElements.h - a region of scalars, applied to tensors -------===//

#ifndef SINTER_PASSES_REGIONONELEMENTS_H
#define SINTER_PASSES_REGIONONELEMENTS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Region.h"
#include "mlir/IR/Value.h"

namespace sinter {

/// What \p region, from scalars to scalars, gives for the elements of
/// \p arguments, tensors of one shape or scalars, which are repeated in the
/// shape of the last. Nothing, and nothing is built, if it holds operations
/// that are not elementwise, or quantised values.
llvm::SmallVector<mlir::Value> applyToElements(mlir::Region &region,
                                               mlir::ValueRange arguments,
                                               mlir::OpBuilder &builder,
                                               mlir::Location location);

} // namespace sinter

#endif // SINTER_PASSES_REGIONONELEMENTS_H
