//===- ProductKernel.h - kernels around a matrix product ------------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_PRODUCTKERNEL_H
#define SINTER_BACKEND_CPU_EMIT_PRODUCTKERNEL_H

#include "backend/cpu/emit/RootKernel.h"
#include "backend/cpu/kernels/amx/TileArithmetic.h"
#include "backend/cpu/kernels/gemm/MatMul.h"

namespace sinter::cpu {

/// What multiplies the first two operands of a product.
Arithmetic arithmeticOf(mlir::Operation *product, const Target &target);

/// What matrix units may multiply for it; weights, whose types say which
/// numbers they are, are packed.
std::vector<TileArithmetic> tilesOf(mlir::Operation *product,
                                    const Target &target, bool hasWeights);

/// What kernels of matrix products have in common: a result with the dimensions
/// of the batch first, and then rows and columns.
class ProductKernel : public RootKernel {
protected:
  /// \p root multiplies its first two operands.
  ProductKernel(KernelOp kernel, mlir::Operation *root, const Target &target);

  /// Of a kernel of dynamic sizes. A product reads the rows of a tile, so far
  /// apart as a number says, and needs a register for each where that is not
  /// known: \p mayReadDistances where there are enough.
  CodeSharing sharingOfDynamic(bool mayReadDistances) const;

  /// The operands, the result, scratch memory if there is any, and the
  /// epilogue, for emitTask.
  MatMulRequest requestIn(mlir::ValueRange memory) const;
  /// What bytes that are both computed count from, for emitTask.
  MatMulZeros zerosIn(mlir::OpBuilder &builder, mlir::Location location,
                      mlir::ValueRange memory) const;
  /// The same, as bytes count that nobody turns.
  MatMulZeros zerosOfTiles(mlir::OpBuilder &builder, mlir::Location location,
                           mlir::ValueRange memory) const;

  mlir::Value lhs, rhs;

private:
  MatMulEpilogue epilogueIn(mlir::ValueRange memory) const;
  llvm::SmallVector<mlir::Value> coordinatesOf(KernelBuilder &e,
                                               const MatMulPosition &at) const;

  /// How many dimensions are of the batch.
  size_t batches;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_PRODUCTKERNEL_H
