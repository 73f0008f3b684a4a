//===- QuantizedProducts.h - products of storage elements -----------------===//
//
// The product of quantised tensors is a sum of products of integers, which is
// exact, times one number a place: the product of the scales there. The oracle
// and the compiler share this definition, so that they agree to the bit.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_QUANTIZEDPRODUCTS_H
#define SINTER_GRAPH_QUANTIZEDPRODUCTS_H

#include "mlir/Dialect/Quant/QuantTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace sinter {

/// A factor a place of a product's result: one for all, or one an element of
/// dimension \p axis.
struct ProductScales {
  llvm::SmallVector<double> factors;
  int64_t axis = -1;
};

/// The factors of \p op, whose operands are quantised as \p operands say (null:
/// not): of a convolution, dot, dot_general, einsum or unary_einsum with all
/// operands quantised, the last one per tensor or along a dimension that the
/// result has, the other per tensor. Nothing for any other operation.
std::optional<ProductScales>
productScales(mlir::Operation *op,
              llvm::ArrayRef<mlir::quant::QuantizedType> operands);

} // namespace sinter

#endif // SINTER_GRAPH_QUANTIZEDPRODUCTS_H
