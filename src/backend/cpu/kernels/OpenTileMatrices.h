//===- OpenTileMatrices.h - open products of activations on matrix units --===//
//
// C[m,n] = epilogue(sum over k of A[m,k] * B[k,n]) for any batch, where neither
// is a constant and any of the sizes may be known only when the program runs
// (OpenMatMulShape). Sums are those of TileMatrices, in the same order.
//
// A task is a block of 64 rows by 256 columns, as on vectors. Where there are
// many, one takes its neighbours' blocks, too, who have nothing to do then, so
// that rows are brought together for more columns and columns for more rows: as
// many as the cache holds and eight tasks are left for.
//
// The depth is taken in pieces of one length, of which the last one has what is
// left. A piece of all rows stays in the cache; from one to the next, sums wait
// in scratch memory, where there is room for those of all columns of a task.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_OPENTILEMATRICES_H
#define SINTER_BACKEND_CPU_KERNELS_OPENTILEMATRICES_H

#include "backend/cpu/kernels/MatMul.h"
#include "backend/cpu/kernels/OpenMatMulShape.h"
#include "backend/cpu/kernels/TileOperands.h"

namespace sinter::cpu {

class OpenTileMatrices {
public:
  /// Whether tiles take operands that lie so.
  static bool supports(const OpenMatMulShape &shape, const Target &target);

  OpenTileMatrices(OpenMatMulShape shape, const Target &target,
                   const TileArithmetic &arithmetic);

  /// Bytes of scratch memory of each thread, which is of f32.
  int64_t scratchBytes() const { return lines * tileRowBytes; }

  /// What it multiplies.
  const TileArithmetic &multiplies() const { return arithmetic; }

  /// Emits one task of the shape's taskParts(), by \p registers of tiles of
  /// mostTileRows rows. A position's row and column are
  /// those of the matrix, its batch has an index for each dimension of the
  /// shape's. Zero points count as those of bytes that nobody turned.
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

  OpenMatMulShape shape;
  TileArithmetic arithmetic;
  Arithmetic dot;             ///< What sums up the bytes of words.
  int64_t pieces;             ///< Of the depth; 0 where nobody knows.
  int64_t pieceDepth;         ///< Of each but the last.
  std::vector<Blocks> blocks; ///< Of a task, the fewest first.
  TileRows rows;              ///< Where they are in scratch memory, in lines,
  TileColumns columns;        ///< a panel,
  int64_t magnitudes = 0;     ///< a word a panel,
  int64_t byteSums = 0;       ///< the sums of columns, a line a tile,
  int64_t waiting = 0; ///< and sums, panel by panel, pair by pair of tiles;
  int64_t spare = 0, lines = 0; ///< what is free, and where it ends.
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_OPENTILEMATRICES_H
