//===- OpenMatMulShape.h - products of open sizes, and their tasks --------===//
//
// A batch of matrix products, any of whose sizes may be known only when the
// program runs. A task is at most 64 rows by 256 columns of one matrix: enough
// rows to pay for columns that are packed for them.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_OPENMATMULSHAPE_H
#define SINTER_BACKEND_CPU_KERNELS_OPENMATMULSHAPE_H

#include "backend/cpu/kernels/IndexBuilder.h"
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

  static constexpr int64_t taskRows = 64, taskColumns = 256;

  /// What the number of tasks is the product of.
  std::vector<TaskPart> taskParts() const;

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

#endif // SINTER_BACKEND_CPU_KERNELS_OPENMATMULSHAPE_H
