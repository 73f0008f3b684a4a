//===- RescaledSums.h - rescales of products' operands --------------------===//
//
//   quantize(conv(rescale(x), w) + bias)   ->   quantize(conv(x, w) + bias')
//
// The scale of a quantised product's accumulators is the product of its
// operands' scales, so that a rescale of an operand changes theirs, and those
// of the bias. The operation that rounds the accumulators accepts any scale.
//
// Restrictions:
//   - The accumulators, and the bias, have one use; the bias is constant, and
//     below 2^22.
//   - The rescale clips nothing, and the accumulators still fit 32 bits.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_RESCALEDSUMS_H
#define SINTER_PASSES_RESCALEDSUMS_H

#include "graph/Values.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"

namespace sinter {

/// Replacements of the results of \p op, which rounds or dequantises
/// accumulators, without a rescale of an operand of their product; nothing
/// where no rescale may be removed.
Values withoutRescaleOfSums(mlir::Operation *op, mlir::OpBuilder &builder);

} // namespace sinter

#endif // SINTER_PASSES_RESCALEDSUMS_H
