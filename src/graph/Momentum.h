//===- Momentum.h - how running statistics move in training ---------------===//

#ifndef SINTER_GRAPH_MOMENTUM_H
#define SINTER_GRAPH_MOMENTUM_H

#include "mlir/IR/Operation.h"

namespace sinter {

/// The share of running statistics that a step of training keeps where the file
/// says nothing.
inline constexpr double usualMomentum = 0.9;

/// The discardable attribute of a norm by running statistics with that share,
/// where it is another. It changes nothing of what the norm computes.
inline constexpr llvm::StringLiteral momentumAttribute =
    "sinter.source.momentum";

/// The share that training of \p op keeps. The attribute counts if it is a
/// number from 0 to 1: a text may have anything under this name.
double momentumOf(mlir::Operation *op);
/// Gives the operation that computes \p norm the attribute, if \p momentum is
/// from 0 to 1 and not the usual one in f32, in which files have it.
void setMomentum(mlir::Value norm, double momentum);

} // namespace sinter

#endif // SINTER_GRAPH_MOMENTUM_H
