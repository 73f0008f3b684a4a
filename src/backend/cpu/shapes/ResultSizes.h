//===- ResultSizes.h - how large results are ------------------------------===//
//
// The sizes of an operation's results, as those of its operands and of the
// elements of its shape operands say:
//
//   transpose (N, 8)                       (8, N)
//   concatenate (N, 8), (S, 8) along 0     (N + S, 8)
//   reshape (N, 4, 2) to [?, 8]            (N, 8)
//   pool (N, 3, H, W), 2x2 windows         (N, 3, floor((H - 2) / 2) + 1, ...)
//
// Most follow from the operation's axes; what shape operands, windows and
// broadcasts decide is said here. What sizes must be for this to be right is
// required of them (SizeFacts.h). No operation is changed, but a size may be
// one that the program computes (ComputedSizes.h).
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_SHAPES_RESULTSIZES_H
#define SINTER_BACKEND_CPU_SHAPES_RESULTSIZES_H

#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/shapes/ComputedSizes.h"
#include "graph/nn/NnOps.h"

namespace sinter::cpu {

class ResultSizes {
public:
  ResultSizes(SizeFacts &facts, ShapeValues &values, ComputedSizes &computed)
      : facts(facts), values(values), computed(computed) {}

  /// The sizes of a result, as far as they have an expression; empty where
  /// nothing is known.
  llvm::SmallVector<Known> of(mlir::OpResult result);
  /// How many places \p window has in \p size elements.
  Known windowedSize(const SizeExpression &size,
                     const stablehlo::WindowDimension &window);

private:
  using Sizes = llvm::SmallVector<Known>;

  Sizes byAxes(mlir::OpResult result);
  Sizes ofReshape(mlir::Value operand, mlir::RankedTensorType type);
  Sizes ofConcatenate(stablehlo::ConcatenateOp op);
  Sizes ofProduct(mlir::Operation *op);
  Sizes ofProduct(ZeroPointProductOp op);
  Sizes ofAttention(AttentionOp op);
  Sizes ofPad(stablehlo::PadOp op);
  Sizes ofPad(nn::PadModeOp op);
  Sizes ofReduceWindow(stablehlo::ReduceWindowOp op);
  Sizes ofBlocked(mlir::Operation *op);
  /// Of a result whose last dimensions have windows.
  Sizes ofWindows(mlir::OpResult result);
  Sizes ofBroadcast(nn::BroadcastLikeOp op);
  Sizes ofSlice(stablehlo::RealDynamicSliceOp op);
  Sizes ofGather(stablehlo::DynamicGatherOp op);
  Sizes ofCall(mlir::OpResult result);

  SizeFacts &facts;
  ShapeValues &values;
  ComputedSizes &computed;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_SHAPES_RESULTSIZES_H
