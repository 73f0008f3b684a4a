//===- TileRegisters.h - what is summed up at once on matrix units --------===//
//
// Two tiles of rows by two of columns: four registers of sums, two of rows, two
// of columns. When they are complete, sums go to the stack:
//
//     [32 rows][32 columns]
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_TILEREGISTERS_H
#define SINTER_BACKEND_CPU_KERNELS_TILEREGISTERS_H

#include "backend/cpu/kernels/TileArithmetic.h"

namespace sinter::cpu {

/// What a step of a product reads: 64 bytes of each part along k. Addresses are
/// of memory, all else is bytes.
struct TileStep {
  mlir::Value rowsAddress;
  /// Where the first part of each tile's first row is,
  llvm::SmallVector<mlir::Value, 2> rows;
  int64_t rowStride = tileRowBytes; ///< how far apart rows are,
  mlir::Value rowPart = {};         ///< and how far the parts.
  mlir::Value columnsAddress;
  /// The registers of a panel's columns, one after the other.
  mlir::Value columns;
  int64_t columnTiles = 2;
  int64_t columnPart = 0; ///< How far the parts of columns are apart.
};

class TileRegisters {
public:
  /// Tiles of rows and of columns.
  static constexpr int64_t groupTiles = 2, panelTiles = 2,
                           panelColumns = 16 * panelTiles;
  /// Bytes of all sums.
  static constexpr int64_t sumsBytes =
      groupTiles * mostTileRows * panelColumns * 4;

  /// Configures them for tiles of \p tileRows rows, or of \p openRows. Once a
  /// kernel.
  TileRegisters(VectorBuilder &code, int64_t tileRows,
                const TileArithmetic &arithmetic,
                const NumberAtStart &openRows = {});

  void clear(int64_t rowTiles, int64_t columnTiles);
  /// Adds the products of \p arithmetic, all parts of a step.
  void multiply(const TileArithmetic &arithmetic, const TileStep &step);
  /// Brings the sums to the stack, or to \p address, which they are to have
  /// again later.
  void store(int64_t rowTiles, int64_t columnTiles, mlir::Value to = {});
  void load(int64_t rowTiles, int64_t columnTiles, mlir::Value from);

  mlir::Value addressOf(mlir::Value flat) { return tiles.addressOf(flat); }
  /// The sums on the stack, flat, and the address of the first.
  mlir::Value sums() const { return memory; }
  mlir::Value sumsAddress() const { return address; }
  /// Where they are of row \p i of tile \p rowTile.
  mlir::Value sumsAt(mlir::Value rowTile, mlir::Value i) const;
  mlir::Value sumsAt(int64_t rowTile, mlir::Value i) const;

private:
  VectorBuilder &code;
  TileInstructions tiles;
  mlir::Value memory, address;
};

/// \p rows cut into tiles of one height: that height. There are as few tiles as
/// hold them or, since two are multiplied at once, one more where that leaves
/// none alone and no more rows: 196 are 14 of 14, not 13 of 16.
int64_t tileRowsFor(int64_t rows);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_TILEREGISTERS_H
