//===- ClipForm.h - operations that clip to constant bounds ---------------===//

#ifndef SINTER_PASSES_CLIPFORM_H
#define SINTER_PASSES_CLIPFORM_H

#include "passes/PlacedAffine.h"

namespace sinter {

/// A maximum, a minimum, a clamp or a relu with constant bounds.
struct ClipForm {
  mlir::Value operand;
  /// As shifts; scales are 0.
  std::optional<PlacedAffine> low, high;

  static std::optional<ClipForm> of(mlir::Operation *op);
  /// The bounds that clip \p affine of the operand to \p affine of the result.
  std::optional<ClipForm> after(const PlacedAffine &affine) const;
  bool hasBoundsOf(const ClipForm &other) const;
};

/// Creates an operation that clips \p operand to \p form, in place of \p op.
mlir::Value makeClip(mlir::Operation *op, mlir::Value operand,
                     const ClipForm &form);

} // namespace sinter

#endif // SINTER_PASSES_CLIPFORM_H
