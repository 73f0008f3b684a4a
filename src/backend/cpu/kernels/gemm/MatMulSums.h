//===- MatMulSums.h - the reduction of a register tile -------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_GEMM_MATMULSUMS_H
#define SINTER_BACKEND_CPU_KERNELS_GEMM_MATMULSUMS_H

#include "backend/cpu/kernels/gemm/MatMulInt8.h"

namespace sinter::cpu {

class MatMulSums : public MatMulInt8 {
protected:
  using MatMulInt8::MatMulInt8;

  /// The accumulators of a tile, row by row.
  llvm::SmallVector<mlir::Value> reduce(const MatMulPanel &panel,
                                        const MatMulRows &rows) const;
  /// Whether the next panel is prefetched. A group of panels is for few rows,
  /// which are too short to hide that.
  bool fetchesNext(const MatMulPanel &panel) const {
    return MatMulPlan::fetchesNext() && panel.vectors <= panelVectors;
  }
  /// The offset of the lines of the next panel that this tile prefetches.
  mlir::Value firstFetched(const MatMulPanel &panel) const;

private:
  /// A tile in registers.
  struct Tile {
    RegisterTile registers;
    const MatMulPanel &panel;
    llvm::SmallVector<mlir::Value> aRows; ///< The offsets of its rows of A.

    int64_t size() const { return registers.rows * registers.vectors; }
  };
  /// Some steps of a reduction.
  struct Range {
    mlir::Value first;
    int64_t steps;
    int64_t lastValid; ///< Products of the last step.
  };
  llvm::SmallVector<mlir::Value> reduceBlocks(const Tile &tile,
                                              mlir::ValueRange sums) const;
  llvm::SmallVector<mlir::Value>
  reduceRange(const Tile &tile, const Range &range, mlir::ValueRange initial,
              const ScalesAndZeros &numbers) const;
  /// Emits one step: \p k is its index, \p valid the valid elements of its
  /// group. Sets of accumulators \p sums alternate, starting with \p set.
  void emitStep(const Tile &tile, mlir::Value k, int64_t valid,
                llvm::MutableArrayRef<mlir::Value> sums, int64_t set,
                const ScalesAndZeros &numbers) const;
  /// Steps between the cache lines of the next panel that a tile prefetches.
  int64_t stepsApart() const;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_GEMM_MATMULSUMS_H
