//===- MarkAmplified.h - mark layers whose error is amplified -------------===//
//
//     x1 = convolution(x0, w0) ... x30 = convolution(x29, w29)
//       -> x1 = convolution(x0, w0) {sinter.amplified} ...
//
// Each layer of a network adds its rounding error to that of the layers before
// it. Between convolutions there are batch norms, which subtract means: the
// rest is smaller, and the relative error grows. So the first layers cause most
// of a deep network's error (resnet50 with three products of bf16 terms: 6e-5
// of the outputs' range from the first fifth of its layers, 2e-5 from the next
// quarter, less from all others; transformers do not behave that way).
// Convolutions that are followed by at least two thirds of the longest chain of
// products are marked, if that chain is long.
//
//     y = norm(...), z = dot_general(y, w)
//       -> z = dot_general(y, w) {sinter.last}
//
// The error of a product that no other one follows goes to the results
// unchanged: no norm, softmax or long sum follows it. Matmuls by weights are
// marked as last if their weights are a small share of all weights, so that it
// costs little (the pooler of a transformer, not the head of a language model,
// which is a third of all work). Not convolutions, whose work grows with the
// pixels.
//
// AMX computes both at about f32 accuracy. The marks depend on the order of
// products and on the static sizes of weights.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_PRECISION_MARKAMPLIFIED_H
#define SINTER_BACKEND_CPU_PRECISION_MARKAMPLIFIED_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/Precision.h"

namespace sinter::cpu {

inline constexpr llvm::StringLiteral amplifiedAttribute = "sinter.amplified";

inline constexpr llvm::StringLiteral lastAttribute = "sinter.last";

/// Marks the first convolutions of a deep network, and the last matmuls of any
/// network if they have few weights.
void markAmplified(mlir::func::FuncOp function);

/// The precision of the product \p op by a bf16 split: that of precisionOf(),
/// but Precision::Exact instead of Default for marked operations.
Precision termsPrecisionOf(mlir::Operation *op);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_PRECISION_MARKAMPLIFIED_H
