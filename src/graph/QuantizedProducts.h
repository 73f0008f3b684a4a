//===- QuantizedProducts.h - products of storage elements -----------------===//
//
// The product of quantised tensors is a sum of products of integers, which is
// exact, times one number a place: the product of the scales there. The oracle
// and the compiler share this definition, so that they agree to the bit.
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

/// Whether \p parameters are without a zero point and have the scales of sums
/// with \p factors, as far as a text may have rounded them.
bool areScalesOfSums(const QuantizationParameters &parameters,
                     const ProductScales &factors);

/// Whether the scales of the result of \p op, of two quantised operands, are
/// those of its sums of products, without a zero point.
bool hasScalesOfSums(mlir::Operation *op);

/// Whether \p op gives products, and nobody else, the same numbers in another
/// storage type: that of what they are multiplied by, as StableHLO wants it.
/// Formats whose products take two types do not have it.
bool isShiftForProducts(mlir::Operation *op);

/// The discardable attribute of a product of quantised tensors with the form
/// that it was raised from, in which a writer gives it back.
inline constexpr llvm::StringLiteral productFormAttribute =
    "sinter.source.product_form";

enum class ProductForm {
  /// Scaled, rounded and cut at once, perhaps after a bias.
  Rescaled,
  /// Integers are given as they are.
  Sums
};

void setProductForm(mlir::Operation *op, ProductForm form);
/// What the attribute says of \p op. Nothing where it has none, or is not a
/// convolution or dot_general whose 32-bit result holds the sums of its
/// products: a text may have anything under this name.
std::optional<ProductForm> productFormOf(mlir::Operation *op);

} // namespace sinter

#endif // SINTER_GRAPH_QUANTIZEDPRODUCTS_H
