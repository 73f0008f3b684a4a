//===- QuantizedProducts.h - quantised matmuls and convolutions -----------===//
//
// A matmul or convolution of quantised tensors is an exact sum of integer
// products, times one factor per element: the product of the scales there. The
// interpreter and the compiler share this definition, so that they agree to the
// bit.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_QUANTIZEDPRODUCTS_H
#define SINTER_GRAPH_QUANTIZEDPRODUCTS_H

#include "graph/Quantization.h"
#include "mlir/Dialect/Quant/QuantTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace sinter {

/// The factors of a product's result: one for all elements, or one per element
/// of dimension \p axis.
struct ProductScales {
  llvm::SmallVector<double> factors;
  int64_t axis = -1;
};

/// The factors of \p op, whose operands have the quantised types \p operands
/// (null: not quantised): of a convolution, dot, dot_general, einsum or
/// unary_einsum with all operands quantised, the last one per tensor or along a
/// dimension that the result has, the other per tensor. Nothing for any other
/// operation.
std::optional<ProductScales>
productScales(mlir::Operation *op,
              llvm::ArrayRef<mlir::quant::QuantizedType> operands);

/// Whether \p parameters have no zero point and the scales of accumulators with
/// \p factors, within the rounding of IR text.
bool areScalesOfSums(const QuantizationParameters &parameters,
                     const ProductScales &factors);

/// Whether the result of \p op, which has two quantised operands, has the
/// scales of its accumulators and no zero point.
bool hasScalesOfSums(mlir::Operation *op);

/// Whether \p op only shifts elements to another storage type, and all its
/// users are products whose other operand has that type, as StableHLO requires.
/// Formats whose products take two types need no such operation.
bool isShiftForProducts(mlir::Operation *op);

/// A discardable attribute of a quantised product: the form that it was raised
/// from, which a writer restores.
inline constexpr llvm::StringLiteral productFormAttribute =
    "sinter.source.product_form";

enum class ProductForm {
  /// Scaled, rounded and clamped in one operator, perhaps after a bias.
  Rescaled,
  /// The result is the integer accumulators.
  Sums
};

void setProductForm(mlir::Operation *op, ProductForm form);
/// The form in that attribute of \p op. Nothing where there is none, or where
/// \p op is not a convolution or dot_general whose 32-bit result holds its
/// accumulators: IR text may have anything under this name.
std::optional<ProductForm> productFormOf(mlir::Operation *op);

} // namespace sinter

#endif // SINTER_GRAPH_QUANTIZEDPRODUCTS_H
