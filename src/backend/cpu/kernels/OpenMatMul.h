//===- OpenMatMul.h - products of matrices of any size --------------------===//
//
// C[m,n] = epilogue(sum over k of A[m,k] * B[k,n]), for any batch, where any of
// the sizes may be known only when the program runs. A task takes some rows and
// some columns of one matrix; their sums are those that MatMul takes of known
// sizes, in the same order.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_OPENMATMUL_H
#define SINTER_BACKEND_CPU_KERNELS_OPENMATMUL_H

#include "backend/cpu/kernels/MatMul.h"
#include "backend/cpu/kernels/TaskPart.h"

namespace sinter::cpu {

/// Sizes and strides of rows and columns may be named.
struct OpenMatMulShape {
  struct BatchDim {
    int64_t size;
    Distance a, b, c;
  };
  std::vector<BatchDim> batch; ///< Outermost first.
  std::vector<int64_t> rows;   ///< The number of rows is their product.
  int64_t columns = 1, depth = 1;
  /// A[m,k] is at m * aRow + k * aColumn.
  int64_t aRow = 0, aColumn = 1;
  /// B[k,n] is at k * bStride + n or, where it is transposed, n * bStride + k,
  /// for a depth that is known.
  int64_t bStride = 0;
  bool isTransposed = false;
  bool turnsB = false; ///< As MatMulShape has it.
};

class OpenMatMul {
public:
  OpenMatMul(OpenMatMulShape shape, const Target &target,
             const Arithmetic &arithmetic);

  std::vector<TaskPart> taskParts() const;
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
  static MatMulShape shapeOfTask(const OpenMatMulShape &shape);

  OpenMatMulShape shape;
  MatMul product; ///< Of a task.
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_OPENMATMUL_H
