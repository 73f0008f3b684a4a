//===- IntegerRange.h - which integers a value may have -------------------===//
//
//   %a = convert %x : (tensor<8xui8>) -> tensor<8xi32>      [0, 255]
//   %b = subtract %a, 128                                   [-128, 127]
//
// What is said follows from types, constants and arithmetic, whatever the
// inputs are. ExactSums.h says which type holds the sums of products of such
// numbers.
//
// Restrictions: looks at 32 operations, and not through regions.
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

  /// Of the elements of \p value, a tensor of integers.
  static IntegerRange of(mlir::Value value);
  /// All numbers of an integer type.
  static IntegerRange ofType(mlir::Type element);
  /// Of a sum of \p count products of a number of \p lhs and one of \p rhs, and
  /// of every part of such a sum, in whatever order it is taken.
  static IntegerRange ofSums(IntegerRange lhs, IntegerRange rhs, double count);
};

} // namespace sinter

#endif // SINTER_GRAPH_INTEGERRANGE_H
