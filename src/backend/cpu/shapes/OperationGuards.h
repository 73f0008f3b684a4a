//===- OperationGuards.h - what operations require of their sizes ---------===//
//
// An operation whose dimensions are dynamic is right only for sizes that fit:
//
//   add (N, 8), (M, 8)             N = M: made of one axis
//   slice (N, 8) [0:4, 0:8]        4 <= N: inside of its operand
//   reshape (N, 8) to (M, 16)      8 N = 16 M
//   i8 with 8 scales along (C)     C = 8
//
// Each becomes a guard, unless it is known to hold. A slice in a loop or a
// branch need not lie inside where that is not entered (EnteredRegions.h).
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_SHAPES_OPERATIONGUARDS_H
#define SINTER_BACKEND_CPU_SHAPES_OPERATIONGUARDS_H

#include "backend/cpu/shapes/EnteredRegions.h"

namespace sinter::cpu {

class OperationGuards {
public:
  OperationGuards(SizeFacts &facts, ShapeValues &values,
                  EnteredRegions &entered)
      : facts(facts), values(values), entered(entered) {}

  /// Requires what \p op needs of its sizes, as far as these have an
  /// expression. Fails where they cannot fit.
  Result<void> require(mlir::Operation *op);
  /// Requires that a reshape keeps the number of elements, where both have an
  /// expression.
  void requireSameCount(mlir::Operation *op);

private:
  /// Dimensions that are made of the same axes are of one size.
  Result<void> requireAxes(mlir::Operation *op);
  /// What else is required.
  Result<void> requireFit(mlir::Operation *op);
  Result<void> requireScales(mlir::Operation *op);
  void requireInside(mlir::Operation *op, unsigned operand,
                     llvm::ArrayRef<Known> sizes);
  void requireTaken(mlir::Operation *op, llvm::ArrayRef<Known> sizes);
  void requireUpdates(stablehlo::ScatterOp op);
  bool requireAlike(mlir::Value lhs, mlir::Value rhs);

  SizeFacts &facts;
  ShapeValues &values;
  EnteredRegions &entered;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_SHAPES_OPERATIONGUARDS_H
