//===- Means.h - means of dynamic dimensions ------------------------------===//
//
//   s = reduce add x over [2, 3] : ?x4xf32
//   y = divide(reshape(s), broadcast(convert(size(x, 2) * size(x, 3))))
//      ->
//   y = GlobalAveragePool(x)
//
// and ReduceMean over other dimensions. The graph has no mean operation, so it
// is arithmetic, which takes many nodes if dimensions are dynamic.
//
// Restrictions: f32 and f64, whose sums are not rounded in between; the sum's
// initial value is zero, and it has no other use.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_WRITE_MEANS_H
#define SINTER_FORMATS_ONNX_WRITE_MEANS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace sinter::onnx {

/// The operands of such a division.
struct Mean {
  mlir::Value x;
  llvm::SmallVector<int64_t> axes;
  /// Whether the result keeps the reduced dimensions with size 1.
  bool keepsAxes = false;
  /// Ops that only it uses, which are not written: the sum and its reshape.
  llvm::SmallVector<mlir::Operation *, 2> parts;

  /// Whether it is a GlobalAveragePool: over all dimensions but the first two.
  bool isGlobalPool() const;

  /// Nothing if \p divide is none. \p insertsAxes returns whether a reshape
  /// with several dynamic dimensions only inserts these dimensions,
  /// \p isDropped whether an operation is not written.
  static std::optional<Mean>
  of(mlir::Operation *divide,
     llvm::function_ref<bool(mlir::Operation *, llvm::ArrayRef<int64_t>)>
         insertsAxes,
     llvm::function_ref<bool(mlir::Operation *)> isDropped);
};

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_WRITE_MEANS_H
