//===- MatMulTask.h - the operands of a matmul's task ---------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_GEMM_MATMULTASK_H
#define SINTER_BACKEND_CPU_KERNELS_GEMM_MATMULTASK_H

#include "backend/cpu/kernels/gemm/MatMulPlan.h"
#include "backend/cpu/kernels/gemm/MatMulRequest.h"

namespace sinter::cpu {

/// A panel of columns.
struct MatMulPanel {
  mlir::Value firstColumn;
  int64_t vectors;     ///< Its vectors,
  int64_t valid;       ///< and the valid lanes of the last one.
  mlir::Value source;  ///< The buffer of its rows,
  mlir::Value offset;  ///< the offset of the first one,
  Dim stride;          ///< and the stride of rows.
  bool isPadded;       ///< Whether whole vectors can be read.
  mlir::Value numbers; ///< The offset of its scales and zero points.
  /// Of one vector that may reach beyond the columns: the columns from its
  /// first one on.
  mlir::Value left;
  mlir::Value number; ///< Its index; null where panels are not counted.
  /// In a subroutine that gets them: the steps of the reduction.
  mlir::Value steps = {};
};

/// Some rows that are computed together.
struct MatMulRows {
  mlir::Value first;
  int64_t count;
  /// If set, replaces the rows after it. The first `sure` rows exist.
  mlir::Value last = {};
  int64_t sure = 1;

  /// Whether row \p row may be one after the last.
  bool mayLack(int64_t row) const { return last && row >= sure; }
};

/// What the code of a task has in common.
class MatMulTask : protected MatMulPlan {
protected:
  /// The flat buffers, and the offsets of this task's matrices in them.
  struct Operands {
    mlir::Value a, b, c, scratch;
    MatMulOrigin origin;
    MatMulNumbers numbers;
    MatMulZeros zeros;
    MatMulExtents extents; ///< What is dynamic of its size.
    const MatMulEpilogue &epilogue;
    int64_t firstDepth, endDepth; ///< The steps of the reduction.
    /// The matrix in the batch.
    llvm::SmallVector<mlir::Value> batch = {};
    mlir::Value unit = {}; ///< The index of the tile of rows.
    /// If arguments of a subroutine: the stride of rows of A, and the first
    /// line that the tile prefetches.
    mlir::Value rowStride = {}, fetched = {};
    /// The contribution of the columns' zero point to each row of a tile, in
    /// all lanes, and the first of these rows; null without one.
    mlir::Value rowSums = {}, firstSummed = {};
  };

  /// \p request outlives the task.
  MatMulTask(const MatMulPlan &plan, VectorBuilder &code,
             const MatMulRequest &request);
  /// The same in another function.
  MatMulTask(const MatMulTask &other, VectorBuilder &code)
      : MatMulPlan(other), code(code), operands(other.operands) {}

  /// The offset of \p row from the first row of A.
  mlir::Value rowOfA(mlir::Value row) const;
  /// The index of row \p row of \p rows; the last one replaces those after it.
  mlir::Value rowAt(const MatMulRows &rows, int64_t row) const;
  mlir::Value reductionDepth() const;
  /// Whether accumulators are complete after these steps.
  bool endsSums() const {
    return operands.endDepth == arithmetic.steps(shape.k);
  }

  /// Receives the index of a vector, its valid lanes and its position.
  using VectorBody = llvm::function_ref<void(size_t i, int64_t valid,
                                             const MatMulPosition &position)>;
  /// Iterates over the vectors of row \p row of C.
  void forRow(const MatMulPanel &panel, mlir::Value row, VectorBody body) const;
  /// Iterates over the vectors of a tile, row by row.
  void forTile(const MatMulPanel &panel, const MatMulRows &rows,
               VectorBody body) const;

  VectorBuilder &code;
  Operands operands;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_GEMM_MATMULTASK_H
