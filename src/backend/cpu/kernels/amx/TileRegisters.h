//===- TileRegisters.h - accumulators in AMX registers --------------------===//
//
// Two tiles of rows by two of columns: four registers of accumulators, two of
// rows, two of columns. When they are complete, accumulators go to the stack:
//
//     [32 rows][32 columns]
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_AMX_TILEREGISTERS_H
#define SINTER_BACKEND_CPU_KERNELS_AMX_TILEREGISTERS_H

#include "backend/cpu/kernels/amx/TileArithmetic.h"

namespace sinter::cpu {

/// The operands of a step: 64 bytes of each term along k. All but addresses are
/// in bytes.
struct TileStep {
  mlir::Value rowsAddress;
  /// The address of the first term of each tile's first row,
  llvm::SmallVector<mlir::Value, 2> rows;
  int64_t rowStride = tileRowBytes; ///< the stride of rows,
  mlir::Value rowPart = {};         ///< and of terms.
  mlir::Value columnsAddress;
  /// The registers of a panel's columns, one after the other.
  mlir::Value columns;
  int64_t columnTiles = 2;
  int64_t columnPart = 0; ///< The stride of the columns' terms.
};

class TileRegisters {
public:
  /// Tiles of rows and of columns.
  static constexpr int64_t groupTiles = 2, panelTiles = 2,
                           panelColumns = 16 * panelTiles;
  /// Bytes of all accumulators.
  static constexpr int64_t sumsBytes =
      groupTiles * mostTileRows * panelColumns * 4;

  /// Configures them for tiles of \p tileRows rows, or of \p dynamicRows. Once
  /// a kernel.
  TileRegisters(VectorBuilder &code, int64_t tileRows,
                const TileArithmetic &arithmetic,
                const NumberAtStart &dynamicRows = {});

  void clear(int64_t rowTiles, int64_t columnTiles);
  /// Accumulates all products of \p arithmetic for a step.
  void multiply(const TileArithmetic &arithmetic, const TileStep &step);
  /// Stores the accumulators to the stack, or to \p to, for a later reload.
  void store(int64_t rowTiles, int64_t columnTiles, mlir::Value to = {});
  void load(int64_t rowTiles, int64_t columnTiles, mlir::Value from);

  mlir::Value addressOf(mlir::Value flat) { return tiles.addressOf(flat); }
  /// The accumulators on the stack, flat, and the address of the first.
  mlir::Value sums() const { return memory; }
  mlir::Value sumsAddress() const { return address; }
  /// The offset of row \p i of tile \p rowTile in them.
  mlir::Value sumsAt(mlir::Value rowTile, mlir::Value i) const;
  mlir::Value sumsAt(int64_t rowTile, mlir::Value i) const;

private:
  VectorBuilder &code;
  TileInstructions tiles;
  mlir::Value memory, address;
};

/// The common height of tiles for \p rows. There are as few tiles as possible
/// or, since two are multiplied at once, one more where that makes their number
/// even without more rows in all: 196 rows are 14 tiles of 14, not 13 of 16.
int64_t tileRowsFor(int64_t rows);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_AMX_TILEREGISTERS_H
