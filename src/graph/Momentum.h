//===- Momentum.h - momentum of running statistics in training ------------===//

#ifndef SINTER_GRAPH_MOMENTUM_H
#define SINTER_GRAPH_MOMENTUM_H

#include "mlir/IR/Operation.h"

namespace sinter {

/// The default momentum: the share of running statistics that a training step
/// keeps.
inline constexpr double usualMomentum = 0.9;

/// A discardable attribute of a norm by running statistics: its momentum, if
/// not the default. It does not change what the norm computes.
inline constexpr llvm::StringLiteral momentumAttribute =
    "sinter.source.momentum";

/// The momentum of \p op. The attribute counts if it is a number from 0 to 1:
/// IR text may have anything under this name.
double momentumOf(mlir::Operation *op);
/// Sets the attribute on the operation that computes \p norm, if \p momentum is
/// from 0 to 1 and not the default as rounded to f32, the type that files use.
void setMomentum(mlir::Value norm, double momentum);

} // namespace sinter

#endif // SINTER_GRAPH_MOMENTUM_H
