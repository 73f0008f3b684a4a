//===- ProductPrecision.h - how exactly a product is to be computed -------===//
//
// StableHLO says it of one operation: by the `precision_config` of a
// convolution or dot_general, or by a dot_general's `algorithm`. Where such
// operations become others, the attribute `sinter.precision` says it, with a
// name of runtime/Precision.h; where nobody says anything, whoever compiles
// decides.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_PRODUCTPRECISION_H
#define SINTER_GRAPH_PRODUCTPRECISION_H

#include "mlir/IR/Operation.h"
#include "runtime/Precision.h"

#include <optional>

namespace sinter {

inline constexpr llvm::StringLiteral precisionAttribute = "sinter.precision";

/// What the model asks of the product \p op, by `sinter.precision`, an
/// algorithm or precision_config; nothing where it asks for nothing (DEFAULT).
std::optional<Precision> askedPrecision(mlir::Operation *op);

/// What the product \p op may be computed with, by `sinter.precision` alone;
/// Precision::Default where it is missing.
Precision precisionOf(mlir::Operation *op);

void setPrecision(mlir::Operation *op, Precision precision);

} // namespace sinter

#endif // SINTER_GRAPH_PRODUCTPRECISION_H
