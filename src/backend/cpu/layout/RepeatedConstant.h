//===- RepeatedConstant.h - few numbers that stand for many ---------------===//
//
//   s : 24x768        24 x 32 x 768        768 x 768
//   reshape(broadcast_in_dim(s, dims = [0, 2]))
//     ->  along dimension 0: 24 steps of 768 elements, then 32 of none;
//         along dimension 1: 768 steps of one
//
// What moves and repeats elements says where each comes from: an index along a
// dimension is a number of some digits, and each digit goes so many elements on
// in the constant.
//
// Restrictions: broadcasts, transposes, conversions of real numbers, slices
// from the start on, and reshapes that keep digits whole or cut them evenly.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LAYOUT_REPEATEDCONSTANT_H
#define SINTER_BACKEND_CPU_LAYOUT_REPEATEDCONSTANT_H

#include "mlir/IR/Value.h"
#include "runtime/Tensor.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace sinter::cpu {

class RepeatedConstant {
public:
  struct Digit {
    int64_t size, stride;
  };
  using Digits = llvm::SmallVector<Digit>;

  /// Nothing where \p value does not follow from a constant in this way. What
  /// is converted or computed has at most an eighth of its elements.
  static std::optional<RepeatedConstant> of(mlir::Value value);

  /// What \p op, one of those above but for a conversion, makes of a value
  /// whose elements are these.
  std::optional<RepeatedConstant> through(mlir::Operation *op) const;

  const Tensor &numbers() const { return constant; }
  /// How many elements it stands for.
  int64_t size() const;
  /// The digits of an index of \p dimensions taken as one, outermost first;
  /// nothing where one of several is cut short by a slice.
  std::optional<Digits> along(llvm::ArrayRef<int64_t> dimensions) const;

  /// Where in the constant the digits of \p index lead.
  static int64_t offsetOf(llvm::ArrayRef<Digit> digits, int64_t index);
  /// How many neighbours have the same element, along all of \p digits.
  static int64_t repetition(llvm::ArrayRef<Digit> digits);

private:
  static RepeatedConstant whole(const Tensor &tensor,
                                llvm::ArrayRef<int64_t> shape);
  std::optional<RepeatedConstant> reshaped(llvm::ArrayRef<int64_t> shape) const;

  Tensor constant;
  llvm::SmallVector<int64_t> sizes;
  /// Of each dimension; they count as far as its size, or farther where it was
  /// sliced.
  llvm::SmallVector<Digits> dims;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LAYOUT_REPEATEDCONSTANT_H
