//===- Amplified.h - products whose errors weigh most in the results ------===//
//
//     x1 = convolution(x0, w0) ... x30 = convolution(x29, w29)
//       -> x1 = convolution(x0, w0) {sinter.amplified} ...
//
// Each layer of a network adds the error of its product to those before it.
// Convolutions follow each other with batch norms between them, which take
// means off: what is left is smaller, and errors are more of it. So those of
// the first layers are most of a deep network's (resnet50 with three products
// of bf16 parts: 6e-5 of the outputs' range by the first fifth of its layers,
// 2e-5 by the next quarter, less by all others; transformers know nothing of
// that). Convolutions with at least two thirds of the longest chain of products
// behind them say so, where that chain is long.
//
//     y = norm(...), z = dot_general(y, w)
//       -> z = dot_general(y, w) {sinter.last}
//
// The error of a product behind which there is no other one is in the results
// as it is: no norm, no softmax and no sum of many comes behind it. Products by
// weights say that they are the last where their weights are few beside all
// that the function multiplies by, so that it costs next to nothing (the pooler
// of a transformer, not the head of a language model, which is a third of all
// work). Not convolutions, whose work is by pixels.
//
// Matrix units compute both as near as f32. Which they are follows from the
// order of products and from the sizes of weights, which are known.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_AMPLIFIED_H
#define SINTER_BACKEND_CPU_AMPLIFIED_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/Precision.h"

namespace sinter::cpu {

inline constexpr llvm::StringLiteral amplifiedAttribute = "sinter.amplified";

inline constexpr llvm::StringLiteral lastAttribute = "sinter.last";

/// Lets the first convolutions of a deep network say that they are, and the
/// last products of any by few weights.
void sayWhatWeighsMost(mlir::func::FuncOp function);

/// What the product \p op may be computed with in parts: as precisionOf says,
/// but Precision::Exact in place of Default where its errors weigh most.
Precision partsPrecisionOf(mlir::Operation *op);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_AMPLIFIED_H
