//===- TileOperands.h - operands that are brought to tiles at run time ----===//
//
// Both factors of a product of activations lie in memory as they were computed.
// A task brings each into scratch memory of its thread as registers read it, in
// lines of 64 bytes, cut into parts: rows of A as lines along k, 32 numbers of
// f32 each,
//
//     [part][block of k][row][line]
//
// and columns of B as lines of 16 columns, of which each has two neighbours
// along k,
//
//     [block of k][part][tile of columns][16 lines]
//
// A matrix whose numbers lie along the other side becomes lines of the other
// kind first, which are transposed by sixteens.
//
// Of bytes a line has 64 along k, or four of 16 columns; what zero points add
// is computed from these lines.
//
// Numbers that parts do not add up to (TileArithmetic) are noted of each row of
// A and of all columns together, and what they are multiplied by is computed
// again, in f32, on vectors, from where both matrices lie. A row of results
// thus follows from its own row, the columns and nothing else.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_TILEOPERANDS_H
#define SINTER_BACKEND_CPU_KERNELS_TILEOPERANDS_H

#include "backend/cpu/kernels/Arithmetic.h"
#include "backend/cpu/kernels/TileRegisters.h"

namespace sinter::cpu {

/// A matrix of f32, or of bytes, in memory: rows of A, or columns of B, and k.
/// Element [i, k] is at start + i * stride + k * depthStride, either of which
/// may be named. Where none is 1, numbers along k are gathered: those of f32 of
/// A can be.
struct TileMatrix {
  mlir::Value flat, start;
  int64_t stride = 0, depthStride = 1;
  mlir::Value count, depth; ///< How many there are.
  int64_t depthUnit = 1;    ///< Of which the depth is a multiple.

  /// Whether a line is read along k, not across.
  bool isAlongDepth() const { return depthStride == 1 || stride != 1; }
};

/// Rows in scratch memory; places are lines.
struct TileRows {
  int64_t at = 0;        ///< The first part's.
  int64_t notes = 0;     ///< A word a row: the magnitude of its largest number.
  int64_t positions = 0; ///< Room for so many rows, a multiple of 16,
  int64_t blocks = 0;    ///< and for so many blocks of k.
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

/// Two matrices and what was made of them.
struct TileFactors {
  TileMatrix a, b;
  TileRows rows;
  TileColumns columns;
  mlir::Value anyRow; ///< Whether one of the rows is unusual.
  int64_t tileRows;   ///< Of each tile of rows but the last,
  int64_t mostTiles;  ///< and the most that there may be,
  bool areEven;       ///< whether there always is an even number.
};

/// Some of the depth, where that is taken piece by piece.
struct TilePiece {
  mlir::Value depth;           ///< How long it is.
  mlir::Value isFirst, isLast; ///< i1.
};

struct TilePanel {
  mlir::Value number;     ///< In scratch memory.
  mlir::Value column;     ///< Its first one in the matrix.
  int64_t tiles;          ///< Of 16 columns.
  mlir::Value areUnusual; ///< Whether a number of it is.
};

class TileOperands {
public:
  /// \p scratch is flat, of f32; so many lines of it, from \p spare on, are for
  /// what is transposed.
  TileOperands(VectorBuilder &code, const TileArithmetic &arithmetic,
               mlir::Value scratch, int64_t spare)
      : code(code), arithmetic(arithmetic), scratch(scratch), spare(spare) {}
  static int64_t spareLines(const TileArithmetic &arithmetic) {
    return std::max(arithmetic.lhsParts, arithmetic.rhsParts) * mostTileRows;
  }

  /// Brings all rows of \p a there, with their notes. Returns whether there is
  /// an unusual one. Of a piece of the depth, unless \p isFirst, notes and what
  /// is returned are of the pieces before, too.
  mlir::Value stageRows(const TileMatrix &a, const TileRows &to,
                        mlir::Value isFirst = {}) const;
  /// Brings \p tiles of columns from \p first on to panel \p panel. Returns the
  /// magnitude of the largest number, as bits.
  mlir::Value packColumns(const TileMatrix &b, mlir::Value first,
                          mlir::Value tiles, const TileColumns &to,
                          mlir::Value panel) const;
  /// The same of all columns: whether one is unusual.
  mlir::Value packPanels(const TileMatrix &b, const TileColumns &to) const;

  /// i1: whether numbers of this magnitude are none that parts add up to.
  mlir::Value isUnusual(mlir::Value magnitude) const;

  /// Gets the sums of a row by 16 columns.
  using Store = llvm::function_ref<void(mlir::Value row, int64_t columnTile,
                                        mlir::Value sums)>;
  /// Emits the products of all rows by a panel.
  void multiply(TileRegisters &registers, const TileFactors &factors,
                const TilePanel &panel, Store store) const;

  // Of some rows by a panel, piece by piece; tiles have mostTileRows rows.
  /// Adds the products of \p piece by the tiles from row \p first on, a group,
  /// to the sums that wait from that line of the scratch memory on, where they
  /// go on waiting. The last piece's are on the stack then.
  void multiplyPiece(TileRegisters &registers, const TileFactors &factors,
                     const TilePanel &panel, mlir::Value first,
                     const TilePiece &piece, mlir::Value waiting) const;
  /// Computes the unusual ones of \p count rows from \p first on again.
  void redoUnusual(TileRegisters &registers, const TileFactors &factors,
                   const TilePanel &panel, mlir::Value first,
                   mlir::Value count) const;
  /// What sums of a row on the stack are to be multiplied by, of floats.
  mlir::Value unscaleOf(const TileFactors &factors, const TilePanel &panel,
                        mlir::Value row) const;

  // Of bytes.
  /// Notes sum a * -\p zero of each row, of 32 bits; pieces as in stageRows.
  void sumRows(const TileMatrix &a, const TileRows &rows, mlir::Value zero,
               const Arithmetic &dot, mlir::Value isFirst = {}) const;
  /// sum b of each column of tile \p tile of a panel.
  mlir::Value sumColumns(const TileMatrix &b, const TileColumns &columns,
                         mlir::Value panel, int64_t tile,
                         const Arithmetic &dot) const;
  /// What sumRows noted, in all lanes.
  mlir::Value sumOfRow(const TileRows &rows, mlir::Value row) const;

  /// Stores the parts of 32 neighbours along k of a row, two vectors.
  void putRow(const TileRows &to, mlir::Value position, mlir::Value block,
              mlir::ValueRange elements) const;

private:
  /// The sums of some tiles of rows, from these positions on: to the stack.
  void multiplyGroup(TileRegisters &registers, const TileFactors &factors,
                     const TilePanel &panel, mlir::ValueRange positions) const;
  void addSteps(TileRegisters &registers, const TileFactors &factors,
                const TilePanel &panel, mlir::ValueRange positions,
                mlir::Value depth) const;
  /// Puts the sums of \p row, in f32, at \p place on the stack.
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
  mlir::Value gatherUpTo(mlir::Value flat, mlir::Value offset, int64_t apart,
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

#endif // SINTER_BACKEND_CPU_KERNELS_TILEOPERANDS_H
