//===- Products.h - matrix products of any rank ---------------------------===//

#ifndef SINTER_FORMATS_IMPORT_PRODUCTS_H
#define SINTER_FORMATS_IMPORT_PRODUCTS_H

#include "formats/import/GraphBuilder.h"

namespace sinter::formats {

/// NumPy's matmul: products of the last two dimensions, the others broadcast;
/// a vector is a row on the left and a column on the right.
mlir::Value matmul(GraphBuilder &builder, mlir::Value lhs, mlir::Value rhs);

/// The type that products of \p value are summed up in where an operator does
/// more than that with the sums, which it rounds when all is done: f32 for
/// floats narrower than that, else \p value's.
mlir::Type sumElement(GraphBuilder &builder, mlir::Value value);

/// dot_general; the result's shape follows, and its elements are of \p lhs's
/// type, or of \p element.
mlir::Value dotGeneral(GraphBuilder &builder, mlir::Value lhs, mlir::Value rhs,
                       llvm::ArrayRef<int64_t> lhsBatching,
                       llvm::ArrayRef<int64_t> rhsBatching,
                       llvm::ArrayRef<int64_t> lhsContracting,
                       llvm::ArrayRef<int64_t> rhsContracting,
                       mlir::Type element = {});

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_PRODUCTS_H
