//===- IntegerRange.h - which integers a value may have -------------------===//
//
//   %a = convert %x : (tensor<8xui8>) -> tensor<8xi32>      [0, 255]
//   %b = subtract %a, 128                                   [-128, 127]
//
// Products of few small integers are exact in f32 or f64, which have fast
// kernels. What is said follows from types, constants and arithmetic, whatever
// the inputs are.
//
// Restrictions: looks at 32 operations, and not through regions.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LAYOUT_INTEGERRANGE_H
#define SINTER_BACKEND_CPU_LAYOUT_INTEGERRANGE_H

#include "mlir/IR/Value.h"
#include <algorithm>

namespace sinter::cpu {

struct IntegerRange {
  double low = 0, high = 0; ///< Beyond 2^53 rounded outwards, if at all.

  /// The greatest magnitude.
  double reach() const { return std::max(-low, high); }

  /// Of the elements of \p value, a tensor of integers.
  static IntegerRange of(mlir::Value value);
  /// All numbers of an integer type.
  static IntegerRange ofType(mlir::Type element);
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LAYOUT_INTEGERRANGE_H
