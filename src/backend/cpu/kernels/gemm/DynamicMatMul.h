//===- DynamicMatMul.h - products of matrices of any size -----------------===//
//
// C[m,n] = epilogue(sum over k of A[m,k] * B[k,n]), for any batch, where any of
// the sizes may be known only when the program runs (DynamicMatMulShape). A
// task's sums are those that MatMul takes of known sizes, in the same order.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_GEMM_DYNAMICMATMUL_H
#define SINTER_BACKEND_CPU_KERNELS_GEMM_DYNAMICMATMUL_H

#include "backend/cpu/kernels/gemm/DynamicMatMulShape.h"
#include "backend/cpu/kernels/gemm/MatMul.h"

namespace sinter::cpu {

class DynamicMatMul {
public:
  DynamicMatMul(DynamicMatMulShape shape, const Target &target,
                const Arithmetic &arithmetic);

  ElementType scratchType() const { return product.scratchType(); }
  /// Of that type, for each thread.
  int64_t scratchElements() const;
  /// And so many more for each step of a named depth.
  int64_t scratchOfDepth() const;

  /// Emits one task. A position's row and column are those of the matrix, its
  /// batch has an index for each dimension of the shape's.
  void build(mlir::OpBuilder &builder, mlir::Location location,
             mlir::Value task, mlir::Value a, mlir::Value b, mlir::Value c,
             mlir::Value scratch, const MatMulEpilogue &epilogue,
             const MatMulZeros &zeros = {}) const;

private:
  static MatMulShape shapeOfTask(const DynamicMatMulShape &shape);

  DynamicMatMulShape shape;
  MatMul product; ///< Of a task.
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_GEMM_DYNAMICMATMUL_H
