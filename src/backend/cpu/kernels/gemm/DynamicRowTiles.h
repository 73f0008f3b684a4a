//===- DynamicRowTiles.h - tiles of rows that are counted at run time -----===//
//
// Rows, of which nobody knows how many there will be, are cut into as few tiles
// of at most `most` rows as hold them:
//
//     most = 6,  33 rows:  6 6 6 5 5 5
//     most = 6,   9 rows:  5 4
//     most = 13, 20 rows:  13 7
//
// Where that works out, all tiles have `most` rows or one less, as tiles of a
// known number of rows have. Otherwise (few rows) they are as alike where there
// is code for each height, or else the last one has what is left over. Tiles of
// fewer rows than one less are computed in pieces of less than half of the
// rows, the last one of them as the next larger piece that there is code for:
// rows behind its last one are that row again.
// Each row is somewhere else then, and takes a register that says where, which
// there are enough of for few rows only. There is code for a few heights, each
// at most half of the one before, and from four rows on for each number, as
// batches often have so few, down to one that has just enough sums to keep the
// multipliers busy; fewer rows would take as long. Where half a tile has not,
// that is the one height of pieces.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_GEMM_DYNAMICROWTILES_H
#define SINTER_BACKEND_CPU_KERNELS_GEMM_DYNAMICROWTILES_H

#include "backend/cpu/kernels/common/VectorBuilder.h"

namespace sinter::cpu {

class DynamicRowTiles {
public:
  /// So many sums keep the multipliers of most machines busy: two multiply-adds
  /// a cycle, each of which takes four.
  static constexpr int64_t latency = 4, busySums = 2 * latency;

  /// \p most is positive; each row has so many \p vectors of sums, of which
  /// \p busy keep the multipliers busy.
  DynamicRowTiles(int64_t most, int64_t vectors, int64_t busy = busySums);

  /// The same cut with code for the greatest and the least height alone: for
  /// columns that are few beside others.
  DynamicRowTiles withTwoHeights() const;

  /// How many tiles hold \p rows rows.
  mlir::Value count(VectorBuilder &code, mlir::Value rows) const;

  struct Tile {
    mlir::Value first; ///< The index of its first row,
    mlir::Value rows;  ///< and its rows.
  };
  /// The tile of that \p number, if \p rows rows are cut.
  Tile tile(VectorBuilder &code, mlir::Value rows, mlir::Value number) const;
  /// The same where tiles that are as alike are none the better for it.
  Tile nearlyWhole(VectorBuilder &code, mlir::Value rows,
                   mlir::Value number) const;

  /// Some rows of a tile that are computed together.
  struct Piece {
    int64_t height;
    mlir::Value start; ///< The index of its first row in the tile.
    /// The tile's last row, which replaces those after it; null if there are
    /// none.
    mlir::Value last;
    int64_t sure; ///< So many rows there are at least.
  };
  /// How many rows the pieces of a tile have together at most.
  int64_t mostComputed() const;
  /// Calls \p emit for each height that a piece may be computed as, if tiles
  /// have at \p least so many rows.
  void dispatch(VectorBuilder &code, const Tile &tile,
                llvm::function_ref<void(const Piece &piece)> emit,
                int64_t least = 1) const;

  /// For how many rows there is code, for all heights together.
  int64_t rowsOfCode() const;

private:
  /// Whether tiles may have one row less: if that takes less.
  bool cutsEvenly() const {
    return heights.size() > 1 && heights[heights.size() - 2] == most - 1;
  }
  /// Whether each number of rows from the least height on is one.
  bool hasEveryHeight() const {
    return static_cast<int64_t>(heights.size()) == most - heights.front() + 1;
  }
  /// Those of pieces; none where a tile is one piece.
  llvm::ArrayRef<int64_t> heightsOfPieces() const;

  int64_t most;
  /// The heights that have code, the smallest first.
  llvm::SmallVector<int64_t> heights;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_GEMM_DYNAMICROWTILES_H
