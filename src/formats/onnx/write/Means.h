//===- Means.h - sums that are divided by how many were added -------------===//
//
//   s = reduce add x over [2, 3] : ?x4xf32
//   y = divide(reshape(s), broadcast(convert(size(x, 2) * size(x, 3))))
//      ->
//   y = GlobalAveragePool(x)
//
// and ReduceMean over other dimensions. The graph has no operation for that, so
// it is arithmetic, of unknown sizes in many nodes.
//
// Restrictions: f32 and f64, whose sums nothing is lost of in between; the sum
// begins with zero, and nothing else reads it.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_WRITE_MEANS_H
#define SINTER_FORMATS_ONNX_WRITE_MEANS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace sinter::onnx {

/// The parts of such a division.
struct Mean {
  mlir::Value x;
  llvm::SmallVector<int64_t> axes;
  /// Whether the result has dimensions of size 1 in their place.
  bool keepsAxes = false;
  /// What only it reads, and is not written: what reshapes the sum, and it.
  llvm::SmallVector<mlir::Operation *, 2> parts;

  /// Whether GlobalAveragePool says it: over all dimensions but the first two.
  bool isGlobalPool() const;

  /// Nothing where \p divide is none. \p insertsAxes tells of a reshape of
  /// several unknown sizes whether all that it does is to insert these
  /// dimensions, \p isDropped of an operation whether it is not written.
  static std::optional<Mean>
  of(mlir::Operation *divide,
     llvm::function_ref<bool(mlir::Operation *, llvm::ArrayRef<int64_t>)>
         insertsAxes,
     llvm::function_ref<bool(mlir::Operation *)> isDropped);
};

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_WRITE_MEANS_H
