//===- Amplified.h - convolutions whose errors grow behind them -----------===//
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
// behind them say so, where that chain is long. Matrix units compute these as
// near as f32.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_AMPLIFIED_H
#define SINTER_BACKEND_CPU_AMPLIFIED_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/Precision.h"

namespace sinter::cpu {

inline constexpr llvm::StringLiteral amplifiedAttribute = "sinter.amplified";

/// Lets the first convolutions of a deep network say that they are.
void sayWhatIsAmplified(mlir::func::FuncOp function);

/// What the product \p op may be computed with in parts: as precisionOf says,
/// but Precision::Exact in place of Default where its errors grow.
Precision partsPrecisionOf(mlir::Operation *op);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_AMPLIFIED_H
