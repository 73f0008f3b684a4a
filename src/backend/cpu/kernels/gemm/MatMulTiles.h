//===- MatMulTiles.h - tiles of rows, and what follows them --------------===//
//
// A tile of dynamic rows has code for each of several heights
// (DynamicRowTiles), of which few rows compute several panels at once.
//
// Matmuls differ in what follows them, and their reductions in the number of
// steps and the strides. So such tiles get their accumulators from a
// subroutine, with these as arguments, which leaves them in memory. Where tiles
// are small, matmuls of any depth share one. In larger ones each row that is
// not at a known distance would need a register: there matmuls with the same
// strides share one.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_GEMM_MATMULTILES_H
#define SINTER_BACKEND_CPU_KERNELS_GEMM_MATMULTILES_H

#include "backend/cpu/kernels/gemm/MatMulSums.h"

namespace sinter::cpu {

class MatMulTiles : public MatMulSums {
protected:
  using MatMulSums::MatMulSums;

  /// Computes and stores tile \p unit of rows, of a panel.
  void buildTile(const MatMulPanel &panel, mlir::Value unit);

private:
  /// How a tile of dynamic rows computes a panel: with its neighbours, if \c
  /// isGrouped.
  struct Grouping {
    PanelGroup group;
    mlir::Value isGrouped;
    mlir::Value isFirst; ///< Of its group, in which all are computed.
    /// Whether there are no other panels for so few rows.
    bool takesAll;
  };
  /// The groups that \p panel may be in, of which the first one counts that has
  /// rows enough for \p tile.
  llvm::SmallVector<Grouping> groupingsOf(const DynamicRowTiles::Tile &tile,
                                          const MatMulPanel &panel) const;

  /// Calls \p emit for each way in which \p panel may be computed, with rows of
  /// \p tile: for each height that these may have, and for groups of panels
  /// that begin with it.
  void forPieces(const DynamicRowTiles &tiles,
                 const DynamicRowTiles::Tile &tile, const MatMulPanel &panel,
                 llvm::ArrayRef<Grouping> groupings,
                 llvm::function_ref<void(const DynamicRowTiles::Piece &,
                                         const MatMulPanel &)>
                     emit) const;

  /// Whether a subroutine computes the accumulators of \p panel.
  bool callsSums(const MatMulPanel &panel) const;
  /// Stores the accumulators of \p tile to \p waiting, for \p panels panels
  /// from \p panel on.
  void callSums(const MatMulPanel &panel, const DynamicRowTiles &tiles,
                const DynamicRowTiles::Tile &tile,
                llvm::ArrayRef<Grouping> groupings, mlir::Value panels,
                const WaitingRows &waiting) const;

  void buildStaticTile(const MatMulPanel &panel);
  void buildDynamicTile(const MatMulPanel &panel);
  bool isFewOfMany(const MatMulPanel &panel) const;
  bool finishesInLoop(const MatMulPanel &panel) const;
  void buildRows(const MatMulPanel &panel, const MatMulRows &rows) const;
  void finishRow(const MatMulPanel &panel, mlir::Value row,
                 mlir::ValueRange sums) const;
  /// Stores the existing columns of \p sums, one vector per row.
  void finishClipped(const MatMulPanel &panel, mlir::Value row,
                     mlir::Value sums) const;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_GEMM_MATMULTILES_H
