//===- OpenRowTiles.h - tiles of rows that are counted at run time --------===//
//
// Rows, of which nobody knows how many there will be, are cut into as few tiles
// of at most `most` rows as hold them:
//
//     most = 6, 33 rows:  6 6 6 5 5 5
//     most = 6, 8 rows:   6 2
//
// Where that works out, all tiles have `most` rows or one less, as tiles of a
// known number of rows have. Otherwise (few rows) what the last tile has left
// is cut into powers of two, down to tiles that have just enough sums to keep
// the multipliers busy. Of the last of these some rows may be beyond the end:
// they are the last row again, since fewer would take as long.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_OPENROWTILES_H
#define SINTER_BACKEND_CPU_KERNELS_OPENROWTILES_H

#include "backend/cpu/kernels/VectorBuilder.h"

namespace sinter::cpu {

class OpenRowTiles {
public:
  /// \p most is positive; each row has so many \p vectors of sums.
  OpenRowTiles(int64_t most, int64_t vectors);

  /// How many tiles hold \p rows rows.
  mlir::Value count(VectorBuilder &code, mlir::Value rows) const;

  struct Tile {
    mlir::Value first; ///< The number of its first row,
    mlir::Value rows;  ///< and how many it has.
  };
  /// The tile of that \p number, if \p rows rows are cut.
  Tile tile(VectorBuilder &code, mlir::Value rows, mlir::Value number) const;

  /// Calls \p emit with the parts that a tile may consist of: the first row,
  /// how many there are, and, where some of these may be beyond the tile's end,
  /// the last row, which stands for them.
  void forParts(VectorBuilder &code, const Tile &tile,
                llvm::function_ref<void(mlir::Value first, int64_t rows,
                                        mlir::Value last)>
                    emit) const;

  /// No part ends later than so many rows behind the first of its tile.
  int64_t reach() const { return most + least; }

  /// For how many rows there is code, in all parts together.
  int64_t rowsOfCode() const;

private:
  void forRest(
      VectorBuilder &code, const Tile &tile,
      llvm::function_ref<void(mlir::Value, int64_t, mlir::Value)> emit) const;

  /// Rows of the largest of the powers of two, or of the only one.
  int64_t largest() const;

  int64_t most, least;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_OPENROWTILES_H
