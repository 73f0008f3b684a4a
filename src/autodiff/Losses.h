//===- Losses.h - losses of a model's output ------------------------------===//

#ifndef SINTER_AUTODIFF_LOSSES_H
#define SINTER_AUTODIFF_LOSSES_H

#include "autodiff/Options.h"
#include "graph/nn/TensorBuilder.h"
#include "runtime/Result.h"

namespace sinter::autodiff {

/// A loss in a graph.
struct LossValues {
  /// A scalar, f32: the mean over the labels or elements compared.
  mlir::Value loss;
  /// A scalar, f32: how many labels the output predicts (as its first greatest
  /// element); null where the target holds no labels.
  mlir::Value right;
  /// A scalar, f32: how many labels (or elements) are compared.
  mlir::Value count;
  /// The number of classes; nothing where the target holds no labels.
  std::optional<int64_t> classes;
  /// A scalar, f32: how many labels there are, where that is not `count`.
  mlir::Value labels{};
  /// For a sum of several losses: each of them by itself, without its weight.
  llvm::SmallVector<mlir::Value> parts{};
};

/// The value that the loss is computed from: the operand of the softmax or the
/// sigmoid that computes \p output, where the loss would undo it.
mlir::Value comparedValue(mlir::Value output, const LossOptions &options);

/// The dimension of classes of an output, where the model defines it; nothing:
/// the second one, or the last if labels fit only that.
using ClassDimension = std::optional<int64_t>;

/// Checks the shape and type of the target \p name for \p output: labels
/// (integers) of the output's shape without its dimension of classes, the
/// second or the last, or floats of its shape. The Usage error describes what
/// is expected.
Result<void> checkTarget(mlir::RankedTensorType output,
                         mlir::RankedTensorType target,
                         const LossOptions &options, llvm::StringRef name,
                         ClassDimension told);

/// The loss of \p output, the model's, for \p target, which fits it.
LossValues buildLoss(nn::TensorBuilder &emit, mlir::Value output,
                     mlir::Value target, const LossOptions &options,
                     ClassDimension told);

} // namespace sinter::autodiff

#endif // SINTER_AUTODIFF_LOSSES_H
