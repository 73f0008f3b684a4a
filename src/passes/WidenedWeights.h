//===- WidenedWeights.h - weights that are stored in few bits -------------===//
//
// What stands between a weight of a product or a table, in integers of up to 8
// bits or floats of up to 16, and the product or gather: conversions, zero
// points and scales. A backend may leave such a weight as narrow as it is,
// which nobody can once it was computed.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_WIDENEDWEIGHTS_H
#define SINTER_PASSES_WIDENEDWEIGHTS_H

#include "mlir/IR/Value.h"

namespace sinter {

/// Whether \p op makes wider elements of a weight that leads to a dot_general,
/// or of a table that a gather looks something up in.
bool widensWeight(mlir::Operation *op);

/// Whether \p op makes integers of 32 bits of the bytes of a weight that leads
/// to a dot_general. Who multiplies bytes looks for them, and four times as
/// much memory would be searched for what they were.
bool widensByteWeight(mlir::Operation *op);

/// Whether \p value, an operand of a product, is a weight that was made wider.
bool isWidenedWeight(mlir::Value value);

} // namespace sinter

#endif // SINTER_PASSES_WIDENEDWEIGHTS_H
