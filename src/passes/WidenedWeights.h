//===- WidenedWeights.h - low-bit weights ---------------------------------===//
//
// The operations between a low-bit weight of a product or a table, in integers
// of up to 8 bits or floats of up to 16, and the product or gather:
// conversions, zero points and scales. A backend may keep such a weight
// low-bit, which is impossible once they are folded.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_WIDENEDWEIGHTS_H
#define SINTER_PASSES_WIDENEDWEIGHTS_H

#include "mlir/IR/Value.h"

namespace sinter {

/// Whether \p op widens the elements of a weight used by a dot_general, or of
/// the table of a gather.
bool widensWeight(mlir::Operation *op);

/// Whether \p op converts an int8 weight used by a dot_general to i32. The int8
/// matmul lowering looks for these conversions. If they were folded, it would
/// have to search four times as much memory for the int8 values.
bool widensByteWeight(mlir::Operation *op);

/// Whether \p value, an operand of a product, is a widened weight.
bool isWidenedWeight(mlir::Value value);

} // namespace sinter

#endif // SINTER_PASSES_WIDENEDWEIGHTS_H
