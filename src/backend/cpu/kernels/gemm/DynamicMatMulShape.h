//===- DynamicMatMulShape.h - products of dynamic sizes, and their tasks
//-----===//
//
// A batch of matrix products, any of whose sizes may be known only when the
// program runs. A task is at most 64 rows by 256 columns of one matrix: enough
// rows to pay for columns that are packed for them.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_GEMM_DYNAMICMATMULSHAPE_H
#define SINTER_BACKEND_CPU_KERNELS_GEMM_DYNAMICMATMULSHAPE_H

#include "backend/cpu/kernels/common/IndexBuilder.h"
#include "backend/cpu/kernels/common/TaskExtent.h"

namespace sinter::cpu {

struct DynamicMatMulShape {
  struct BatchDim {
    Dim size;
    Distance a, b, c;
  };
  std::vector<BatchDim> batch; ///< Outermost first.
  std::vector<Dim> rows;       ///< The number of rows is their product.
  Dim columns = 1, depth = 1;
  /// A[m,k] is at m * aRow + k * aColumn.
  Dim aRow = 0, aColumn = 1;
  /// B[k,n] is at k * bStride + n or, where it is transposed, n * bStride + k,
  /// for a static depth.
  Dim bStride = 0;
  bool isTransposed = false;
  bool turnsB = false; ///< As MatMulShape has it.

  static constexpr int64_t taskRows = 64, taskColumns = 256;

  /// What the number of tasks is the product of.
  std::vector<TaskExtent> taskExtents() const;

  struct Task {
    llvm::SmallVector<mlir::Value> batch; ///< Which matrix,
    mlir::Value a, b, c;                  ///< and where its elements begin.
    mlir::Value matrices, rows, columns;  ///< How many there are.
    mlir::Value rowBlocks, columnBlocks;  ///< Of taskRows, of taskColumns.
    mlir::Value rowBlock, columnBlock;    ///< The task's own.
  };
  Task task(IndexBuilder &code, mlir::Value number) const;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_GEMM_DYNAMICMATMULSHAPE_H
