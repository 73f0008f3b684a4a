//===- WeightUses.h - the kind of a weight by its uses --------------------===//
//
// The same weight has another shape in another format (a bias of C channels is
// [C], [C, 1, 1] or [1, C, 1, 1]), so its kind follows from its uses.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_AUTODIFF_WEIGHTUSES_H
#define SINTER_AUTODIFF_WEIGHTUSES_H

#include "mlir/IR/Value.h"
#include "mlir/Support/LLVM.h"

namespace sinter::autodiff {

/// Whether at most one dimension has more than one element.
bool isVector(llvm::ArrayRef<int64_t> shape);

/// Whether the elements of \p op's result are those of its operand.
bool handsOn(mlir::Operation *op);

/// Whether weight decay applies to \p weight: a convolution, a matmul or a
/// recurrent layer multiplies by it, or another operation uses it, and not as a
/// vector. So it does not apply to biases, slopes, and scales and offsets of
/// channels.
bool isDecayed(mlir::Value weight);

} // namespace sinter::autodiff

#endif // SINTER_AUTODIFF_WEIGHTUSES_H
