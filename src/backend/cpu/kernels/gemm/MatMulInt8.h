//===- MatMulInt8.h - int8 matmuls of two activations --------------------===//
//
// A task packs its columns in groups along the reduction, as weights are packed
// at compile time, in 32-bit words: four elements, or two if int8 values are
// stored as i16. Zero point corrections are computed before the products are
// accumulated:
//
//   sum (a - zeroA) (b - zeroB) = sum a b - zeroB sum a
//                                 + zeroA (k zeroB - sum b)
//
// The last term is one value per column, computed once per panel, the one
// before it one value per row, and accumulators start from both. Accumulators
// have 32 bits and wrap.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_GEMM_MATMULINT8_H
#define SINTER_BACKEND_CPU_KERNELS_GEMM_MATMULINT8_H

#include "backend/cpu/kernels/gemm/MatMulColumns.h"

namespace sinter::cpu {

class MatMulInt8 : public MatMulColumns {
protected:
  using MatMulColumns::MatMulColumns;

  /// Packs the columns of \p panel into scratch memory.
  void packBytes(MatMulPanel &panel) const;
  /// Computes the corrections of \p rows rows, at most \p most, that firstSums
  /// reads.
  void sumRows(mlir::Value firstRow, mlir::Value rows, int64_t most);
  /// The initial accumulators of a tile.
  llvm::SmallVector<mlir::Value> firstSums(const RegisterTile &tile,
                                           const MatMulRows &rows) const;

private:
  void packWords(const MatMulPanel &panel, mlir::Value word, mlir::Value v,
                 mlir::Value words) const;
  void packByteRows(const MatMulPanel &panel) const;
  void packByteColumns(const MatMulPanel &panel) const;
  void sumColumns(const MatMulPanel &panel) const;
  mlir::Value sumOfRow(mlir::Value row) const;
  /// \p sums as elements of the scratch buffer.
  mlir::VectorType inScratch(mlir::VectorType sums) const;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_GEMM_MATMULINT8_H
