//===- RescaledSums.h - a rescale in front of sums of products ------------===//
//
//   quantize(conv(rescale(x), w) + bias)   ->   quantize(conv(x, w) + bias')
//
// The sums of a product of quantised tensors have its operands' scales, so that
// a rescale of an operand changes theirs, and those of what is added to them.
// What rounds the sums takes numbers of any scale.
//
// Restrictions:
//   - The sums, and what is added, have one reader; what is added is constant,
//     and below 2^22.
//   - The rescale cuts nothing, and the sums still fit 32 bits.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_RESCALEDSUMS_H
#define SINTER_PASSES_RESCALEDSUMS_H

#include "graph/Values.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"

namespace sinter {

/// What may stand for the results of \p op, which rounds sums or makes numbers
/// of them, without a rescale of an operand of their product; nothing where
/// there is none that may go.
Values withoutRescaleOfSums(mlir::Operation *op, mlir::OpBuilder &builder);

} // namespace sinter

#endif // SINTER_PASSES_RESCALEDSUMS_H
