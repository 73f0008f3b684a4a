//===- Losses.h - how far a model's output is from what it should be ------===//

#ifndef SINTER_AUTODIFF_LOSSES_H
#define SINTER_AUTODIFF_LOSSES_H

#include "autodiff/Options.h"
#include "graph/nn/TensorBuilder.h"
#include "runtime/Result.h"

namespace sinter::autodiff {

/// A loss in a graph.
struct LossValues {
  /// A scalar, f32: the mean over what is compared.
  mlir::Value loss;
  /// A scalar, f32: how many labels the output names (its first greatest
  /// element); null where the target holds no labels.
  mlir::Value right;
  /// A scalar, f32: how many labels (or elements) are compared.
  mlir::Value count;
  /// How many classes labels name; nothing where the target holds none.
  std::optional<int64_t> classes;
  /// A scalar, f32: how many labels there are, where `count` does not say it.
  mlir::Value labels{};
  /// Of a sum of several losses: each of them by itself, without its weight.
  llvm::SmallVector<mlir::Value> parts{};
};

/// The value that the loss is computed from: the operand of the softmax or the
/// sigmoid that gives \p output, where the loss would undo it.
mlir::Value comparedValue(mlir::Value output, const LossOptions &options);

/// The dimension of classes of an output, where the model tells it; nothing:
/// the second one, or the last if labels fit that alone.
using ClassDimension = std::optional<int64_t>;

/// The shape and type of the target \p name for \p output is checked: labels
/// (integers) of the output's shape without its dimension of classes, the
/// second or the last, or numbers of its shape. A Usage error says what is
/// expected.
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
