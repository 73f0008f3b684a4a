//===- DynamicOperations.h - operations that take sizes, without ----------===//
//
//   %s = nn.shape %x : tensor<?x8xf32>        (N, 8)
//   %y = dynamic_broadcast_in_dim %b, %s  ->  broadcast_in_dim %b
//        : tensor<?x?xf32>                    : tensor<?x8xf32, [name of N, 8]>
//
// Operations that have sizes as operands become those that have them in their
// types, once it is known how large their results are. What may be repeated or
// not, as sizes will be, is looked up: a gather takes the one element each
// time, or each its own.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_SHAPES_DYNAMICOPERATIONS_H
#define SINTER_BACKEND_CPU_SHAPES_DYNAMICOPERATIONS_H

#include "backend/cpu/shapes/EnteredRegions.h"
#include "graph/nn/NnOps.h"
#include "graph/nn/TensorBuilder.h"

namespace sinter::cpu {

class DynamicOperations {
public:
  DynamicOperations(SizeFacts &facts, ShapeValues &values,
                    EnteredRegions &entered)
      : facts(facts), values(values), entered(entered) {}

  /// Gives \p value \p sizes, in its type too.
  void setSizes(mlir::Value value, const Dims &sizes);
  /// Replaces \p op, which has one result, of \p sizes, if it takes sizes, and
  /// repeats the operand of a broadcast where it must be. Fails where the sizes
  /// leave open what it does.
  Result<void> replace(mlir::Operation *op, const Dims &sizes);
  /// Gives the operands of \p op, if it is elementwise, the sizes of its
  /// result, which are taken to be the same.
  Result<void> joinOperands(mlir::Operation *op);
  /// \p value as a tensor of \p sizes, which are taken to be its own.
  mlir::Value withSizes(mlir::Operation *user, mlir::Value value,
                        const Dims &sizes);
  /// Makes what \p op gives a constant where all of it are numbers.
  void foldNumbers(mlir::Operation *op);

  /// \p size as a number that is computed before \p user.
  mlir::Value numberOf(const SizeExpression &size, mlir::Operation *user);
  /// Replaces an operation that reads sizes and is still needed.
  void countSize(stablehlo::GetDimensionSizeOp op);
  void countSizes(nn::ShapeOp op);

private:
  /// A size as a number that the program counts.
  mlir::Value counted(nn::TensorBuilder &emit, const SizeExpression &size,
                      mlir::Type element);
  void exchange(mlir::Operation *op, mlir::Value value, const Dims &sizes);
  Result<void> replaceBroadcast(mlir::Operation *op, mlir::Value operand,
                                llvm::ArrayRef<int64_t> places,
                                const Dims &sizes);
  Result<void> replaceGather(stablehlo::DynamicGatherOp op, const Dims &sizes);
  Result<void> replaceReshape(mlir::Operation *op, const Dims &sizes);
  /// \p operand, whose dimensions are \p places of a result of \p sizes, with
  /// as many elements as that has there wherever it may have 1 or as many.
  Result<mlir::Value> repeatedWhereOne(mlir::Operation *op, mlir::Value operand,
                                       llvm::ArrayRef<int64_t> places,
                                       const Dims &sizes);
  mlir::Value repeatedAlong(mlir::Operation *user, mlir::Value value,
                            int64_t dim, const SizeExpression &size);
  Result<mlir::Value> partOf(stablehlo::RealDynamicSliceOp op,
                             const Dims &result);
  Result<mlir::Value> partFrom(stablehlo::RealDynamicSliceOp op,
                               const Dims &result);
  Result<void> checkReshape(mlir::Operation *op, mlir::Value operand,
                            const Dims &sizes);

  SizeFacts &facts;
  ShapeValues &values;
  EnteredRegions &entered;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_SHAPES_DYNAMICOPERATIONS_H
