//===- RealRange.h - the range of real values of a quantised tensor -------===//
//
//   %a : !quant<i8:f32, 0.5>        [-64, 63.5]
//   %b = nn.relu %a                 [0, 63.5]
//
// Ranges follow from types, constants and operations, whatever the inputs are:
// from monotonic operations that commute with rescales (RescaleOpInterface),
// and from bounded functions.
//
// Restrictions: looks at 32 operations at most, and not through regions.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_REALRANGE_H
#define SINTER_GRAPH_REALRANGE_H

#include "mlir/Dialect/Quant/QuantTypes.h"
#include "mlir/IR/Value.h"
#include <limits>

namespace sinter {

/// An inclusive range of real numbers.
struct RealRange {
  double least = -std::numeric_limits<double>::infinity();
  double greatest = std::numeric_limits<double>::infinity();
};

/// The real values that \p type represents, over all elements of its quantised
/// dimension.
RealRange realRangeOf(mlir::quant::QuantizedType type);

/// The range of the real values that are rounded to \p value, before its type
/// clamps them.
RealRange rangeBeforeRounding(mlir::Value value);

} // namespace sinter

#endif // SINTER_GRAPH_REALRANGE_H
