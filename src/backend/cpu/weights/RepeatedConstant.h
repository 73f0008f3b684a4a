//===- RepeatedConstant.h - broadcast constants ---------------------------===//
//
//   s : 24x768        24 x 32 x 768        768 x 768
//   reshape(broadcast_in_dim(s, dims = [0, 2]))
//     ->  along dimension 0: 24 steps of 768 elements, then 32 of none;
//         along dimension 1: 768 steps of one
//
// Data movement and broadcasts map each element to one of the constant: an
// index along a dimension is a mixed-radix number, and each digit has a stride
// in the constant.
//
// Restrictions: broadcasts, transposes, conversions of real numbers, slices
// from the start on, and reshapes that keep digits whole or split them evenly.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_WEIGHTS_REPEATEDCONSTANT_H
#define SINTER_BACKEND_CPU_WEIGHTS_REPEATEDCONSTANT_H

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

  /// Matches \p value; nothing if it is not such a constant. Constants that are
  /// converted or computed have at most an eighth of its elements.
  static std::optional<RepeatedConstant> of(mlir::Value value);

  /// The result of \p op, one of the operations above except conversions, on
  /// this value.
  std::optional<RepeatedConstant> through(mlir::Operation *op) const;

  const Tensor &numbers() const { return constant; }
  /// The number of elements of the value.
  int64_t size() const;
  /// The digits of an index into \p dimensions, merged into one, outermost
  /// first; nothing where one of several is sliced.
  std::optional<Digits> along(llvm::ArrayRef<int64_t> dimensions) const;

  /// The offset in the constant of \p index.
  static int64_t offsetOf(llvm::ArrayRef<Digit> digits, int64_t index);
  /// The number of neighbours that share an element, along all of \p digits.
  static int64_t repetition(llvm::ArrayRef<Digit> digits);

private:
  static RepeatedConstant whole(const Tensor &tensor,
                                llvm::ArrayRef<int64_t> shape);
  std::optional<RepeatedConstant> reshaped(llvm::ArrayRef<int64_t> shape) const;

  Tensor constant;
  llvm::SmallVector<int64_t> sizes;
  /// The digits of each dimension; their product is its size, or more if it was
  /// sliced.
  llvm::SmallVector<Digits> dims;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_WEIGHTS_REPEATEDCONSTANT_H
