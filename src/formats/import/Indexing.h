//===- Indexing.h - gathers and scatters by index tuples ------------------===//

#ifndef SINTER_FORMATS_IMPORT_INDEXING_H
#define SINTER_FORMATS_IMPORT_INDEXING_H

#include "formats/import/Building.h"

namespace sinter::formats {

/// The slices of \p data that the rows of \p indices select: a row indexes the
/// dimensions after the first \p batch, which both have in common. A negative
/// index counts from the end.
mlir::Value gatherTuples(GraphBuilder &builder, mlir::Value data,
                         mlir::Value indices, int64_t batch);

/// \p data with \p updates at the slices that the rows of \p indices select.
mlir::Value scatterTuples(GraphBuilder &builder, mlir::Value data,
                          mlir::Value indices, mlir::Value updates,
                          Combine combine);

/// \p data with each element of \p updates at its own coordinates, except along
/// \p axis, where \p indices, of the same shape, gives them.
mlir::Value scatterAlong(GraphBuilder &builder, mlir::Value data,
                         mlir::Value indices, mlir::Value updates, int64_t axis,
                         Combine combine);

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_INDEXING_H
