//===- LayoutAssigner.h - a block of operations on blocked layouts --------===//

#ifndef SINTER_BACKEND_CPU_LAYOUT_LAYOUTASSIGNER_H
#define SINTER_BACKEND_CPU_LAYOUT_LAYOUTASSIGNER_H

#include "backend/cpu/layout/ConvolutionForm.h"
#include "backend/cpu/layout/WeightGradientForm.h"
#include "backend/cpu/quantized/Int8Products.h"
#include "backend/cpu/target/PassSetting.h"
#include "graph/interfaces/Axes.h"
#include "graph/nn/TensorBuilder.h"
#include "passes/PatternLabels.h"

namespace sinter::cpu {

inline constexpr llvm::StringLiteral blockChannelsLabel = "block-channels";

/// Walks a block once, in order; what is computed on blocks is remembered
/// beside the plain value, and unpacked when something needs that.
class LayoutAssigner {
public:
  LayoutAssigner(mlir::Block &block, const PassSetting &setting,
                 PatternRun &run)
      : block(block), setting(setting), target(setting.target),
        lanes(target.f32Lanes), patterns(run) {}

  void run();

private:
  bool rewrite(mlir::Operation *op);
  bool rewriteConvolution(stablehlo::ConvolutionOp op);
  bool allowsFast(stablehlo::ConvolutionOp op, mlir::Value input,
                  mlir::Value weights) const;
  int64_t dilationToUndo(const ConvolutionForm &form,
                         mlir::RankedTensorType type) const;
  mlir::Value weightGradient(nn::TensorBuilder &emit,
                             const WeightGradientForm &form);
  mlir::Value depthwiseGradient(nn::TensorBuilder &emit,
                                const WeightGradientForm &form);
  bool rewritePool(nn::MaxPoolOp op);
  bool rewritePool(nn::AveragePoolOp op);
  template <typename Op> bool rewritePool(Op op, llvm::StringRef kind);
  /// The blocked bytes that a pool may read in the place of its operand, and
  /// their zero point.
  std::optional<Int8Distances> blockedBytes(mlir::Value operand,
                                            bool isMean) const;
  /// Min and max of all elements are those of each channel first.
  bool rewriteReduction(stablehlo::ReduceOp op);
  bool rewriteConcatenate(stablehlo::ConcatenateOp op);
  /// Whether blocks put beside each other hold what \p op concatenates.
  bool joinsWholeBlocks(stablehlo::ConcatenateOp op) const;
  bool rewriteResize(nn::ResizeOp op);
  bool rewriteNorm(nn::GroupNormOp op);
  /// What may be repeated, for all that is known of its sizes, and is not.
  bool rewriteRepeated(nn::BroadcastLikeOp op);
  /// What computes each channel by itself does so for blocks of them; what it
  /// makes of all pixels of a channel, of an image or of all, is plain again.
  bool rewriteByChannel(mlir::Operation *op);
  /// A copy of \p op that makes one element of each channel, in blocks.
  mlir::Value ofAllImages(mlir::Operation *op, const Axes &axes);
  /// A copy of \p op on blocks, whose result's type is still to be changed;
  /// null where there is none.
  mlir::Operation *onBlocks(mlir::Operation *op, const Axes &axes);

  mlir::RankedTensorType blockedType(mlir::RankedTensorType plain) const;
  mlir::Value pack(nn::TensorBuilder &emit, mlir::Value plain);
  /// The blocked form of an operand, if it costs no reorder; \p like is a value
  /// in blocks that has its sizes, or null.
  mlir::Value blockedOperand(nn::TensorBuilder &emit, mlir::Value operand,
                             mlir::Value like);
  mlir::Value blockedBroadcast(nn::TensorBuilder &emit,
                               stablehlo::BroadcastInDimOp op);
  mlir::Value blockedDynamicBroadcast(nn::TensorBuilder &emit,
                                      mlir::Value operand, mlir::Value like);
  void remember(mlir::Value plain, mlir::Value blocked) {
    blockedOf[plain] = blocked;
  }
  /// Unpacks the results of a replaced op that are still used.
  void unpackWhereRead(mlir::Operation *op);

  mlir::Block &block;
  const PassSetting &setting;
  const Target &target;
  int64_t lanes;
  PatternRun &patterns;
  llvm::DenseMap<mlir::Value, mlir::Value> blockedOf;
  /// Broadcasts repeated in the blocked shape; no reason by themselves to
  /// compute on blocks.
  llvm::DenseMap<mlir::Value, mlir::Value> broadcastOf;
  llvm::SmallVector<mlir::Operation *> replaced;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LAYOUT_LAYOUTASSIGNER_H
