//===- SortOrder.h - the sort key of a comparator -------------------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_SORTORDER_H
#define SINTER_BACKEND_CPU_EMIT_SORTORDER_H

#include "backend/cpu/emit/Elemental.h"

namespace sinter::cpu {

/// A comparator that says whether one number, computed from the elements of one
/// side alone, is less (or greater) than the same number of the other side:
/// what it orders by can be computed once an element, as an unsigned integer.
class SortOrder {
public:
  /// Nothing if the comparator of \p op is another.
  static std::optional<SortOrder> of(stablehlo::SortOp op);

  /// Bits of the integers.
  unsigned width() const;
  /// Whether there are keys that have no order: NaN where floats are compared
  /// as such.
  bool hasUnordered() const;

  struct Key {
    mlir::Value bits;      ///< An integer of `width` bits.
    mlir::Value unordered; ///< i1; null if there are none.
  };
  /// The key of the place that has \p elements of the inputs.
  Key emit(Elemental &elemental, mlir::ValueRange elements) const;

private:
  stablehlo::SortOp op;
  mlir::Value number;
  /// As what the numbers are compared.
  mlir::Type compared;
  bool isFirstSide = true, isDescending = false, isTotal = false;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_SORTORDER_H
