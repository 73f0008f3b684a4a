//===- MatMul.h - generator of matmuls ------------------------------------===//
//
// C[m,n] = epilogue(sum over k of A[m,k] * B[k,n]), for any batch. A size is a
// constant or a value that the program computes (MatMulShape); constants fold
// into the code. Packed elements of B may be narrower than the accumulators,
// and are dequantised in blocks along k:
//
//   (B[k,n] - zero[k / size, n]) * scale[k / size, n]
//
// or along n, with zero[k, n / columns] and scale[k, n / columns]. Tiles of few
// rows accumulate blocks separately and scale the accumulators; tiles of more
// rows scale elements after widening. For many rows each panel is widened once,
// into memory of the thread.
//
// For int8 matmuls of two activations zero points are subtracted, one for all
// of A and one for all of B:
//
//   C[m,n] = epilogue(sum over k of (A[m,k] - zeroA) * (B[k,n] - zeroB))
//
// MatMulPlan chooses the tiling. The code of a task is written in layers, a
// class each, which use those before them:
//
//   MatMulTask     the operands of a task, and where its results are
//   MatMulColumns  loads columns of B, dequantised, or packs a panel of them
//   MatMulInt8     packs int8 columns, and corrects for zero points
//   MatMulSums     the reduction of a tile, in registers
//   MatMulTiles    the tiles of a panel, and the epilogue of their rows
//   MatMul         tasks, and their panels
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_GEMM_MATMUL_H
#define SINTER_BACKEND_CPU_KERNELS_GEMM_MATMUL_H

#include "backend/cpu/kernels/gemm/MatMulPlan.h"
#include "backend/cpu/kernels/gemm/MatMulRequest.h"

namespace sinter::cpu {

/// Generates the code of a matmul by its plan.
class MatMul : public MatMulPlan {
public:
  using MatMulPlan::MatMulPlan;

  /// Emits one task of a stage: of tasks(), or of the shape's taskExtents().
  void build(mlir::OpBuilder &builder, mlir::Location location,
             mlir::Value task, const MatMulRequest &request) const;

  /// Of dynamic rows: the number of tasks.
  mlir::Value tasksFor(VectorBuilder &code, mlir::Value rows) const;

private:
  void buildBlock(mlir::OpBuilder &builder, mlir::Location location,
                  mlir::Value task, const MatMulRequest &request) const;
  void buildTask(mlir::OpBuilder &builder, mlir::Location location,
                 mlir::Value task, const MatMulRequest &request) const;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_GEMM_MATMUL_H
