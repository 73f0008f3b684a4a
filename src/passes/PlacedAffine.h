//===- PlacedAffine.h - a scale and a shift along some dimensions ---------===//

#ifndef SINTER_PASSES_PLACEDAFFINE_H
#define SINTER_PASSES_PLACEDAFFINE_H

#include "graph/interfaces/AffineFlow.h"
#include "passes/ChannelAffine.h"

namespace sinter {

/// y = scale * x + shift, where both may vary along some dimensions of x.
struct PlacedAffine {
  /// In ascending order, with static sizes.
  llvm::SmallVector<int64_t> dimensions = {}, sizes = {};
  /// One coefficient for each index of the dimensions, row-major.
  ChannelAffine numbers = ChannelAffine::identity(1);

  static PlacedAffine along(int64_t dimension, ChannelAffine numbers);

  bool isIdentity() const { return !scales() && !shifts(); }
  bool scales() const;
  bool shifts() const { return numbers.shifts(); }
  bool isFinite() const { return numbers.isFinite(); }
  /// Whether no scale is negative.
  bool isPositive() const;
  /// The same without its shift.
  PlacedAffine onlyScale() const;
  /// The shift t with which it is scale * (x + t); nothing where a scale is 0.
  std::optional<PlacedAffine> shiftBefore() const;
  /// The inverse; nothing where a scale is 0.
  std::optional<PlacedAffine> inverse() const;
  /// Leaves out dimensions along which neither varies.
  void simplify();
  /// One scale and shift a channel, if they vary along \p dimension only.
  std::optional<ChannelAffine> channels(int64_t dimension, int64_t count) const;
};

/// Gives all of \p list one coefficient for each index of the dimensions that
/// any of them has. Returns false if these are too many.
bool align(llvm::ArrayRef<PlacedAffine *> list);

/// outer(inner(x)). Nothing where there would be too many coefficients.
std::optional<PlacedAffine> compose(const PlacedAffine &outer,
                                    const PlacedAffine &inner);

/// \p affine of the result of \p op as one of its operand \p operand, and the
/// other way round: by the axes of both, and by AffineFlowOpInterface where an
/// axis is resized. Slices without a counterpart have a scale of 1 and no
/// shift. Nothing where it varies along an axis that the other side does not
/// have. \p isSeparate: the result's slices that come from other operands do
/// not change (AffineWay::isSeparate).
std::optional<PlacedAffine> acrossToOperand(mlir::Operation *op,
                                            unsigned operand,
                                            const PlacedAffine &affine);
std::optional<PlacedAffine> acrossToResult(mlir::Operation *op,
                                           unsigned operand,
                                           const PlacedAffine &affine,
                                           bool isSeparate);

/// An operation that scales and shifts its operand `from`.
struct AffineStep {
  mlir::Value from;
  PlacedAffine affine;
};

/// \p op as such a step: see channelStep(). Its constants vary along one
/// dimension, or none.
std::optional<AffineStep> affineStep(mlir::Operation *op);

/// The dimension of the batch norm that \p affine of \p value is, if it is one.
std::optional<int64_t> normDimension(mlir::Value value,
                                     const PlacedAffine &affine,
                                     bool isTakenUp = false);

/// \p affine of \p value: a batch norm, or a multiplication, an addition, or
/// both. \p isTakenUp: weights will absorb it, and are rounded once: for floats
/// narrower than f32 a scale alone is a batch norm, too, whose parameters
/// together are more precise than a factor.
mlir::Value makeAffine(mlir::OpBuilder &builder, mlir::Value value,
                       const PlacedAffine &affine, bool isTakenUp = false);

/// \p numbers, one for each index of \p affine's dimensions, broadcast to the
/// type of \p like.
mlir::Value placeNumbers(mlir::OpBuilder &builder, const PlacedAffine &affine,
                         llvm::ArrayRef<double> numbers, mlir::Value like);

} // namespace sinter

#endif // SINTER_PASSES_PLACEDAFFINE_H
