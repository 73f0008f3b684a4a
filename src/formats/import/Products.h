//===- Products.h - matrix products of any rank ---------------------------===//

#ifndef SINTER_FORMATS_IMPORT_PRODUCTS_H
#define SINTER_FORMATS_IMPORT_PRODUCTS_H

#include "formats/import/GraphBuilder.h"

namespace sinter::formats {

/// NumPy's matmul over the last two dimensions, the others broadcast; a vector
/// is a row on the left and a column on the right.
mlir::Value matmul(GraphBuilder &builder, mlir::Value lhs, mlir::Value rhs);

/// The accumulator type for matmuls of \p value in an operator that computes
/// more with the result and rounds at its end: f32 for narrower floats, else
/// the element type of \p value.
mlir::Type sumElement(GraphBuilder &builder, mlir::Value value);

/// dot_general with an inferred result shape; the result's element type is that
/// of \p lhs, or \p element.
mlir::Value dotGeneral(GraphBuilder &builder, mlir::Value lhs, mlir::Value rhs,
                       llvm::ArrayRef<int64_t> lhsBatching,
                       llvm::ArrayRef<int64_t> rhsBatching,
                       llvm::ArrayRef<int64_t> lhsContracting,
                       llvm::ArrayRef<int64_t> rhsContracting,
                       mlir::Type element = {});

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_PRODUCTS_H
