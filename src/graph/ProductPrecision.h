//===- ProductPrecision.h - the precision of matmuls and convolutions -----===//
//
// StableHLO sets it per operation: by the `precision_config` of a convolution
// or dot_general, or by a dot_general's `algorithm`. Operations that these are
// lowered to have the attribute `sinter.precision`, with a name of
// runtime/Precision.h. Without any of them, the compiler's options decide.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_PRODUCTPRECISION_H
#define SINTER_GRAPH_PRODUCTPRECISION_H

#include "mlir/IR/Operation.h"
#include "runtime/Precision.h"

#include <optional>

namespace sinter {

inline constexpr llvm::StringLiteral precisionAttribute = "sinter.precision";

/// The precision that the model requires of the matmul or convolution \p op, by
/// `sinter.precision`, an algorithm or precision_config; nothing for DEFAULT.
std::optional<Precision> askedPrecision(mlir::Operation *op);

/// The precision that the matmul or convolution \p op may be computed with, by
/// `sinter.precision` alone; Precision::Default where it is missing.
Precision precisionOf(mlir::Operation *op);

void setPrecision(mlir::Operation *op, Precision precision);

} // namespace sinter

#endif // SINTER_GRAPH_PRODUCTPRECISION_H
