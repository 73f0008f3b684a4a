//===- RowPairs.h - rows of a tile that are multiplied in pairs -----------===//
//
// Matrix instructions of Arm (smmla, bfmmla) multiply groups of two rows by
// groups of two columns. While a tile is summed, two rows share accumulators of
// two columns each, as many as the rows have:
//
//     rows     a0 a1 a2 a3 | b0 b1 b2 b3
//     pairs    a0 a1 b0 b1 | a2 a3 b2 b3
//
// A last row without another one is paired with itself.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_GEMM_ROWPAIRS_H
#define SINTER_BACKEND_CPU_KERNELS_GEMM_ROWPAIRS_H

#include "backend/cpu/kernels/common/Arithmetic.h"

namespace sinter::cpu {

/// A tile of \c rows by \c vectors vectors.
struct RowPairs {
  int64_t rows, vectors;
  Arithmetic arithmetic;

  /// The accumulators \p sums, row by row, as pairs.
  llvm::SmallVector<mlir::Value> paired(VectorBuilder &code,
                                        mlir::ValueRange sums) const;
  /// The accumulators \p pairs row by row.
  llvm::SmallVector<mlir::Value> apart(VectorBuilder &code,
                                       mlir::ValueRange pairs) const;
  /// One step of the reduction, as RegisterTile::step(). Sums of a row that is
  /// not set stay, whatever the columns are.
  void step(VectorBuilder &code, llvm::MutableArrayRef<mlir::Value> pairs,
            llvm::ArrayRef<mlir::Value> b,
            llvm::function_ref<mlir::Value(int64_t row)> a) const;

  /// The number of accumulators.
  int64_t sums() const { return 2 * count() * vectors; }

private:
  int64_t count() const { return (rows + 1) / 2; }
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_GEMM_ROWPAIRS_H
