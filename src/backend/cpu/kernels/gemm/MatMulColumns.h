//===- MatMulColumns.h - columns of B ------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_GEMM_MATMULCOLUMNS_H
#define SINTER_BACKEND_CPU_KERNELS_GEMM_MATMULCOLUMNS_H

#include "backend/cpu/kernels/gemm/MatMulTask.h"

namespace sinter::cpu {

class MatMulColumns : public MatMulTask {
protected:
  using MatMulTask::MatMulTask;

  /// The scales and zero points of columns that are widened, one of each per
  /// vector of the panel; empty without them.
  struct ScalesAndZeros {
    llvm::SmallVector<mlir::Value> scales, zeros;
  };
  /// The scales and zero points of \p block along k, or of a row if blocks are
  /// along n.
  ScalesAndZeros scalesAndZerosOf(const MatMulPanel &panel,
                                  mlir::Value block) const;
  /// The scales and zero points of each matmul of a group if blocks are along
  /// n, else \p all.
  llvm::SmallVector<ScalesAndZeros>
  scalesAndZerosOfStep(const MatMulPanel &panel, mlir::Value step,
                       const ScalesAndZeros &all) const;
  /// The prefetch distance of weights at \p step: far enough that they arrive
  /// in time, in the same panel or the next one.
  mlir::Value fetchedAhead(const MatMulPanel &panel, mlir::Value step) const;
  /// The vectors of a step of a panel at \p row of \p source, for each product
  /// of a group if \p stored is widened, else for all together; \p numbers are
  /// those of each product, or common ones. Prefetches at distance \p ahead,
  /// unless it is null.
  llvm::SmallVector<llvm::SmallVector<mlir::Value>>
  loadColumns(const Arithmetic &stored, const MatMulPanel &panel,
              mlir::Value source, mlir::Value row, mlir::Value ahead,
              llvm::ArrayRef<ScalesAndZeros> numbers) const;

  /// The offset in B, whose columns are contiguous, of column \p number of
  /// vector \p vector of the panel.
  mlir::Value columnOfB(const MatMulPanel &panel, mlir::Value vector,
                        int64_t number) const;
  /// Calls \p body for blocks of \p depth elements of the columns of each
  /// vector: with the first element, their count, the vector's index, and its
  /// columns.
  void
  forColumnBlocks(const MatMulPanel &panel, int64_t depth,
                  llvm::function_ref<void(mlir::Value k, int64_t count,
                                          mlir::Value vector, int64_t columns)>
                      body) const;

  // What copies a panel to scratch memory, for the tiles of a task:
  /// widens a stage's range of the panel at \p packed,
  void widenPanel(const MatMulPanel &panel, mlir::Value packed) const;
  /// copies rows of B,
  void copyRows(const MatMulPanel &panel) const;
  /// transposes columns of B, which are contiguous.
  void packTransposed(const MatMulPanel &panel) const;

private:
  /// panelElements(), as an index.
  mlir::Value panelDistance(const MatMulPanel &panel) const;
  /// Two vectors of bf16 that share 32-bit lanes at \p at, in f32.
  std::pair<mlir::Value, mlir::Value> loadPair(mlir::Value source,
                                               mlir::Value at) const;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_GEMM_MATMULCOLUMNS_H
