//===- IntegerRange.h - which integers a value may have -------------------===//
//
//   %a = convert %x : (tensor<8xui8>) -> tensor<8xi32>      [0, 255]
//   %b = subtract %a, 128                                   [-128, 127]
//
// Ranges follow from types, constants and arithmetic, whatever the inputs are.
// ExactSums.h finds types that hold sums of products of such integers.
//
// Restrictions: looks at 32 operations at most, and not through regions.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_INTEGERRANGE_H
#define SINTER_GRAPH_INTEGERRANGE_H

#include "mlir/IR/Value.h"
#include <algorithm>

namespace sinter {

struct IntegerRange {
  double low = 0, high = 0; ///< Beyond 2^53 rounded outwards, if at all.

  /// The greatest magnitude.
  double reach() const { return std::max(-low, high); }

  /// The range of the elements of \p value, a tensor of integers.
  static IntegerRange of(mlir::Value value);
  /// All values of an integer type.
  static IntegerRange ofType(mlir::Type element);
  /// The range of a sum of \p count products of a value in \p lhs and one in
  /// \p rhs, and of all its partial sums, in any order.
  static IntegerRange ofSums(IntegerRange lhs, IntegerRange rhs, double count);
};

} // namespace sinter

#endif // SINTER_GRAPH_INTEGERRANGE_H
