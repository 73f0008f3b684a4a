//===- RealRange.h - which real numbers a quantised value may be ----------===//
//
//   %a : !quant<i8:f32, 0.5>        [-64, 63.5]
//   %b = nn.relu %a                 [0, 63.5]
//
// What is said follows from types, constants and what operations do, whatever
// the inputs are: from what lets rescales pass and keeps the order of numbers
// (RescaleOpInterface), and from functions that are bounded.
//
// Restrictions: looks at 32 operations, and not through regions.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_REALRANGE_H
#define SINTER_GRAPH_REALRANGE_H

#include "mlir/Dialect/Quant/QuantTypes.h"
#include "mlir/IR/Value.h"
#include <limits>

namespace sinter {

/// From the least to the greatest number.
struct RealRange {
  double least = -std::numeric_limits<double>::infinity();
  double greatest = std::numeric_limits<double>::infinity();
};

/// The numbers that \p type holds, whichever element of its dimension they are.
RealRange realRangeOf(mlir::quant::QuantizedType type);

/// The numbers that \p value is the rounding of: before its type cuts them.
RealRange numbersOf(mlir::Value value);

} // namespace sinter

#endif // SINTER_GRAPH_REALRANGE_H
