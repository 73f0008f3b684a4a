//===- TileOperands.h - stage both operands of AMX matmuls ----------------===//
//
// Both operands of a matmul of activations are in memory as they were computed.
// A task stages each of them in scratch memory of its thread in the layout of
// tile registers, in lines of 64 bytes, split into bf16 terms: rows of A as
// lines along k, of 32 f32 values each,
//
//     [term][block of k][row][line]
//
// and columns of B as lines of 16 columns, each with two neighbours along k,
//
//     [block of k][term][tile of columns][16 lines]
//
// A matrix with the other memory order is first loaded as lines of the other
// kind, which are transposed in blocks of 16.
//
// For int8 a line has 64 elements along k, or four of 16 columns; zero point
// corrections are computed from these lines.
//
// Values that bf16 terms do not represent (TileArithmetic) are noted for each
// row of A and for all columns together. Their results are recomputed in f32,
// on vectors, from both matrices in memory. So a row of results depends only on
// its own row and the columns.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_AMX_TILEOPERANDS_H
#define SINTER_BACKEND_CPU_KERNELS_AMX_TILEOPERANDS_H

#include "backend/cpu/kernels/amx/TileRegisters.h"
#include "backend/cpu/kernels/common/Arithmetic.h"

namespace sinter::cpu {

/// A matrix of f32 or int8 in memory: rows of A, or columns of B, and k.
/// Element [i, k] is at start + i * stride + k * depthStride, either of which
/// may be named. Where none is 1, numbers along k are gathered: those of f32 of
/// A can be.
struct TileMatrix {
  mlir::Value flat, start;
  Dim stride = 0, depthStride = 1;
  mlir::Value count, depth; ///< The sizes.
  int64_t depthUnit = 1;    ///< A known divisor of the depth.

  /// Whether a line is read along k, not across.
  bool isAlongDepth() const { return depthStride == 1 || stride != 1; }
};

/// Rows in scratch memory; offsets are in lines.
struct TileRows {
  int64_t at = 0;        ///< The first term's.
  int64_t notes = 0;     ///< A 32-bit word per row: its largest magnitude.
  int64_t positions = 0; ///< The capacity in rows, a multiple of 16,
  int64_t blocks = 0;    ///< and in blocks of k.
  int64_t parts = 0;

  int64_t partLines() const { return blocks * positions; }
  int64_t lines() const { return parts * partLines(); }
  int64_t noteLines() const { return positions / mostTileRows; }
};

/// Panels of columns in scratch memory.
struct TileColumns {
  int64_t at = 0;
  int64_t blocks = 0;
  int64_t parts = 0;

  static constexpr int64_t tiles = TileRegisters::panelTiles;
  int64_t stepLines() const { return parts * tiles * mostTileRows; }
  int64_t panelLines() const { return blocks * stepLines(); }
};

/// Two matrices and their staged forms.
struct TileFactors {
  TileMatrix a, b;
  TileRows rows;
  TileColumns columns;
  mlir::Value anyRow; ///< Whether one of the rows is unusual.
  int64_t tileRows;   ///< Of each tile of rows but the last,
  int64_t mostTiles;  ///< and the most that there may be,
  bool areEven;       ///< whether their number is always even.
};

/// A piece of the depth, where that is split.
struct TilePiece {
  mlir::Value depth;           ///< Its length.
  mlir::Value isFirst, isLast; ///< i1.
};

struct TilePanel {
  mlir::Value number;     ///< Its index in scratch memory.
  mlir::Value column;     ///< Its first column in the matrix.
  int64_t tiles;          ///< The number of tiles of 16 columns.
  mlir::Value areUnusual; ///< Whether it has an unusual value.
};

class TileOperands {
public:
  /// \p scratch is flat, of f32; spareLines() of its lines, from \p spare on,
  /// are for transposition.
  TileOperands(VectorBuilder &code, const TileArithmetic &arithmetic,
               mlir::Value scratch, int64_t spare)
      : code(code), arithmetic(arithmetic), scratch(scratch), spare(spare) {}
  static int64_t spareLines(const TileArithmetic &arithmetic) {
    return std::max(arithmetic.lhsTerms, arithmetic.rhsTerms) * mostTileRows;
  }

  /// Stages all rows of \p a, with their notes. Returns whether there is an
  /// unusual one. For a piece of the depth, unless \p isFirst, notes and the
  /// result include those of previous pieces.
  mlir::Value stageRows(const TileMatrix &a, const TileRows &to,
                        mlir::Value isFirst = {}) const;
  /// Packs \p tiles of columns from \p first on into panel \p panel. Returns
  /// the largest magnitude, as bits.
  mlir::Value packColumns(const TileMatrix &b, mlir::Value first,
                          mlir::Value tiles, const TileColumns &to,
                          mlir::Value panel) const;
  /// The same for all columns; returns whether one is unusual.
  mlir::Value packPanels(const TileMatrix &b, const TileColumns &to) const;

  /// i1: whether bf16 terms do not represent values of this magnitude.
  mlir::Value isUnusual(mlir::Value magnitude) const;

  /// Receives the accumulators of a row and 16 columns.
  using Store = llvm::function_ref<void(mlir::Value row, int64_t columnTile,
                                        mlir::Value sums)>;
  /// Emits the matmul of all rows and a panel.
  void multiply(TileRegisters &registers, const TileFactors &factors,
                const TilePanel &panel, Store store) const;

  // Of some rows by a panel, piece by piece; tiles have mostTileRows rows.
  /// Accumulates the products of \p piece for the group of tiles from row
  /// \p first on. Accumulators are in scratch memory from line \p waiting on,
  /// and after the last piece on the stack.
  void multiplyPiece(TileRegisters &registers, const TileFactors &factors,
                     const TilePanel &panel, mlir::Value first,
                     const TilePiece &piece, mlir::Value waiting) const;
  /// Recomputes the unusual ones of \p count rows from \p first on.
  void redoUnusual(TileRegisters &registers, const TileFactors &factors,
                   const TilePanel &panel, mlir::Value first,
                   mlir::Value count) const;
  /// The factor for float accumulators of a row on the stack.
  mlir::Value unscaleOf(const TileFactors &factors, const TilePanel &panel,
                        mlir::Value row) const;

  // For int8.
  /// Notes sum a * -\p zero of each row, in 32 bits; pieces as in stageRows.
  void sumRows(const TileMatrix &a, const TileRows &rows, mlir::Value zero,
               const Arithmetic &dot, mlir::Value isFirst = {}) const;
  /// sum b of each column of tile \p tile of a panel.
  mlir::Value sumColumns(const TileMatrix &b, const TileColumns &columns,
                         mlir::Value panel, int64_t tile,
                         const Arithmetic &dot) const;
  /// The value that sumRows noted, in all lanes.
  mlir::Value sumOfRow(const TileRows &rows, mlir::Value row) const;

  /// Stores the terms of 32 neighbours along k of a row, two vectors.
  void putRow(const TileRows &to, mlir::Value position, mlir::Value block,
              mlir::ValueRange elements) const;

private:
  /// Computes the accumulators of tiles of rows from \p positions on, to the
  /// stack.
  void multiplyGroup(TileRegisters &registers, const TileFactors &factors,
                     const TilePanel &panel, mlir::ValueRange positions) const;
  void addSteps(TileRegisters &registers, const TileFactors &factors,
                const TilePanel &panel, mlir::ValueRange positions,
                mlir::Value depth) const;
  /// Stores the results of \p row, computed in f32, at \p place on the stack.
  void redoRow(TileRegisters &registers, const TileFactors &factors,
               const TilePanel &panel, mlir::Value row,
               mlir::Value place) const;
  void finishGroup(TileRegisters &registers, const TileFactors &factors,
                   const TilePanel &panel, mlir::ValueRange positions,
                   Store store) const;
  void
  forRows(const TileFactors &factors, mlir::ValueRange positions,
          llvm::function_ref<void(int64_t tile, mlir::Value i, mlir::Value row)>
              body) const;
  mlir::Value isUnusualRow(const TileFactors &factors, const TilePanel &panel,
                           mlir::Value row) const;
  llvm::SmallVector<mlir::Value> multiplyRow(const TileFactors &factors,
                                             const TilePanel &panel,
                                             mlir::Value row) const;
  struct Place {
    mlir::Value line;
    int64_t partLines;
  };
  mlir::Value putLine(const TileMatrix &from, mlir::Value first,
                      mlir::Value block, mlir::Value i, int64_t parts,
                      const Place &to, mlir::Value most) const;
  mlir::Value putTransposed(const TileMatrix &from, mlir::Value first,
                            mlir::Value block, int64_t parts, const Place &to,
                            mlir::Value most) const;
  llvm::SmallVector<mlir::Value> numbersAt(const TileMatrix &from,
                                           mlir::Value first, mlir::Value block,
                                           mlir::Value i) const;
  mlir::Value bytesAt(const TileMatrix &from, mlir::Value first,
                      mlir::Value block, mlir::Value i) const;
  mlir::Value sumOfLine(mlir::Value line, bool isSigned, mlir::Value sums,
                        const Arithmetic &dot) const;
  mlir::Value blocksOf(mlir::Value depth) const;
  mlir::Value loadUpTo(const TileMatrix &from, mlir::Value offset,
                       mlir::Value left, int64_t unit) const;
  mlir::Value gatherUpTo(mlir::Value flat, mlir::Value offset, Dim apart,
                         mlir::Value left) const;
  void storeLine(mlir::Value vector, mlir::Value line) const;
  mlir::VectorType words() const;
  mlir::VectorType floats() const;

  VectorBuilder &code;
  TileArithmetic arithmetic;
  mlir::Value scratch;
  int64_t spare;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_AMX_TILEOPERANDS_H
