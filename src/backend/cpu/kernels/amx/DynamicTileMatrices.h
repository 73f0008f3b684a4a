//===- DynamicTileMatrices.h - open products of activations on matrix units
//---===//
//
// C[m,n] = epilogue(sum over k of A[m,k] * B[k,n]) for any batch, where neither
// is a constant and any of the sizes may be known only when the program runs
// (MatMulShape). Sums are those of TileMatrices, in the same order.
//
// A task is a block of 64 rows by 256 columns, as on vectors. Where there are
// many, one takes its neighbours' blocks, too, who have nothing to do then, so
// that rows are brought together for more columns and columns for more rows: as
// many as the cache holds and eight tasks are left for.
//
// The depth is split into pieces of one length, except for the last. A piece of
// all rows stays in the cache; between pieces, accumulators are in scratch
// memory, which has room for those of all columns of a task.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_AMX_DYNAMICTILEMATRICES_H
#define SINTER_BACKEND_CPU_KERNELS_AMX_DYNAMICTILEMATRICES_H

#include "backend/cpu/kernels/amx/TileOperands.h"
#include "backend/cpu/kernels/gemm/MatMul.h"

namespace sinter::cpu {

class DynamicTileMatrices {
public:
  /// Whether AMX kernels support operands of this layout.
  static bool supports(const MatMulShape &shape, const Target &target);

  DynamicTileMatrices(MatMulShape shape, const Target &target,
                      const TileArithmetic &arithmetic);

  /// The bytes of each thread's scratch memory, of f32.
  int64_t scratchBytes() const { return lines * tileRowBytes; }

  /// The arithmetic.
  const TileArithmetic &multiplies() const { return arithmetic; }

  /// Emits one task of the shape's taskExtents(), by \p registers of tiles of
  /// mostTileRows rows. A position's row and column are those of the matrix,
  /// its batch has an index for each dimension of the shape's. Zero points are
  /// those of the original 8-bit values.
  void build(VectorBuilder &code, TileRegisters &registers, mlir::Value task,
             mlir::Value a, mlir::Value b, mlir::Value c, mlir::Value scratch,
             const MatMulEpilogue &epilogue,
             const MatMulZeros &zeros = {}) const;

private:
  struct Emission;
  static constexpr int64_t lanes = 16,
                           pairRows = TileRegisters::groupTiles * mostTileRows,
                           panelColumns = TileRegisters::panelColumns,
                           linesOfSums =
                               TileRegisters::sumsBytes / tileRowBytes;
  /// So many that a task takes.
  struct Blocks {
    int64_t rows, columns;
  };
  static std::vector<Blocks> blocksFor(int64_t mostRows, int64_t most);
  bool isOnePiece() const { return pieces == 1; }
  std::pair<mlir::Value, mlir::Value> blocksOfTask(Emission &e) const;
  void buildPieces(Emission &e) const;
  void buildPiece(Emission &e, mlir::Value start, const TilePiece &piece) const;
  void buildPanel(Emission &e, const TileMatrix &b, mlir::Value number,
                  const TilePiece &piece) const;
  void keepMagnitude(Emission &e, TilePanel &panel, mlir::Value number,
                     mlir::Value magnitude, const TilePiece &piece) const;
  void sumColumns(Emission &e, const TileMatrix &b, const TilePanel &panel,
                  mlir::Value number, const TilePiece &piece) const;
  void finish(Emission &e, const TilePanel &panel, mlir::Value number,
              mlir::Value first) const;
  void finishRow(Emission &e, const TilePanel &panel, mlir::Value ofColumns,
                 mlir::Value row, mlir::Value place) const;
  void finishRest(Emission &e, const TilePanel &panel, mlir::Value c,
                  mlir::Value left, mlir::Value row, mlir::Value sums) const;
  void store(Emission &e, mlir::Value row, mlir::Value column,
             mlir::Value sums) const;
  int64_t panelTiles() const;

  MatMulShape shape;
  TileArithmetic arithmetic;
  Arithmetic dot;             ///< Sums the int8 of 32-bit lanes.
  int64_t pieces;             ///< Of the depth; 0 where nobody knows.
  int64_t pieceDepth;         ///< Of each but the last.
  std::vector<Blocks> blocks; ///< Choices per task, the fewest first.
  TileRows rows;              ///< Offsets in scratch memory, in lines: of rows,
  TileColumns columns;        ///< of a panel,
  int64_t magnitudes = 0;     ///< of one magnitude per panel,
  int64_t byteSums = 0;       ///< of column sums, a line per tile,
  int64_t waiting = 0; ///< of accumulators, by panels and pairs of tiles,
  int64_t spare = 0, lines = 0; ///< of free memory, and of its end.
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_AMX_DYNAMICTILEMATRICES_H
