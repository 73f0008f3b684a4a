//===- MeanForm.h - means over dynamic dimensions -------------------------===//
//
//   sum of x along dimensions, reshaped    /    the number of elements summed
//   up
//
// where some of these dimensions are dynamic, so that the count is computed. A
// scale and a shift a channel are the same in front of a mean as behind it.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_MEANFORM_H
#define SINTER_PASSES_MEANFORM_H

#include "graph/stablehlo/StablehloOps.h"
#include "passes/PlacedAffine.h"

namespace sinter {

struct MeanForm {
  /// From the sum to the division, each the only user of the one before.
  llvm::SmallVector<mlir::Operation *, 4> path;

  /// The mean whose division is \p op, or whose sum is \p op.
  static std::optional<MeanForm> endingIn(mlir::Operation *op);
  static std::optional<MeanForm> beginningWith(mlir::Operation *op);

  mlir::Operation *sum() const { return path.front(); }
  mlir::Operation *division() const { return path.back(); }
  mlir::Value operand() const { return sum()->getOperand(0); }
  mlir::Value result() const { return division()->getResult(0); }
  /// Maps \p affine of the result to one of the operand, and the other way
  /// round.
  std::optional<PlacedAffine> toOperand(const PlacedAffine &affine) const;
  std::optional<PlacedAffine> toResult(const PlacedAffine &affine) const;
};

} // namespace sinter

#endif // SINTER_PASSES_MEANFORM_H
