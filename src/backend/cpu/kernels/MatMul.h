//===- MatMul.h - generator of matrix products ----------------------------===//
//
// C[m,n] = epilogue(sum over k of A[m,k] * B[k,n]), for any batch, one exact
// shape a kernel. Packed elements of B may be narrower than those of sums, and
// stand for numbers in blocks along k:
//
//   (B[k,n] - zero[k / size, n]) * scale[k / size, n]
//
// or along n, with zero[k, n / columns] and scale[k, n / columns]. Tiles of few
// rows sum up blocks by themselves and multiply the sums; of more,
// numbers are multiplied as they are widened. Many rows have each panel widened
// once, into memory of the thread.
//
// Bytes that are both computed stand for their distances from zero points, one
// for all of A and one for all of B:
//
//   C[m,n] = epilogue(sum over k of (A[m,k] - zeroA) * (B[k,n] - zeroB))
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_MATMUL_H
#define SINTER_BACKEND_CPU_KERNELS_MATMUL_H

#include "backend/cpu/kernels/MatMulPlan.h"
#include "backend/cpu/kernels/OpenRowTiles.h"

namespace sinter::cpu {

/// Where in C a vector of results belongs.
struct MatMulPosition {
  llvm::SmallVector<mlir::Value> batch; ///< One index a batch dimension.
  mlir::Value row, column;              ///< Of the vector's first element.
  mlir::Value offset;                   ///< In elements from the start of C.
};

/// Gets neighbours in one row. The vector may be shorter than a register at the
/// right edge: use its type.
using MatMulEpilogue = ResultEpilogue<MatMulPosition>;

/// Numbers of blocks, packed by MatMul::packNumbers; null where there are none.
struct MatMulNumbers {
  mlir::Value scales, zeros;
};

/// What bytes that are both computed count from, of 32 bits; null where that is
/// 0. That of B counts as its bytes do once they are turned.
struct MatMulZeros {
  mlir::Value lhs, rhs;
};

/// How large a product is whose shape says that this is given.
struct MatMulExtents {
  mlir::Value rows, columns, depth;
};

/// Where matrices begin in their buffers, in elements.
struct MatMulOrigin {
  mlir::Value a, b, c;
};

/// Writes the code of a product that is cut as the plan says.
class MatMul : public MatMulPlan {
public:
  using MatMulPlan::MatMulPlan;

  /// Emits one task of a stage. \p a, \p b, \p c are contiguous memrefs of any
  /// rank;
  /// \p scratch may be null if scratchElements() is 0, and likewise
  /// \p epilogue. With \p origin, the first matrices begin there. \p numbers
  /// are wanted where the shape has blocks.
  void build(mlir::OpBuilder &builder, mlir::Location location,
             mlir::Value task, mlir::Value a, mlir::Value b, mlir::Value c,
             mlir::Value scratch, const MatMulEpilogue &epilogue,
             const MatMulOrigin *origin = nullptr, int64_t stage = 0,
             const MatMulNumbers &numbers = {},
             const MatMulExtents &extents = {},
             const MatMulZeros &zeros = {}) const;

  /// Of a shape whose rows are given, or open: how many tasks so many have.
  mlir::Value tasksFor(VectorBuilder &code, mlir::Value rows) const;

private:
  /// The buffers, flat, and where the matrices of this task begin in them.
  struct Operands {
    mlir::Value a, b, c, scratch;
    MatMulNumbers numbers;
    mlir::Value aBase, bBase, cBase;
    MatMulPosition position;
    const MatMulEpilogue *epilogue;
    int64_t firstDepth, endDepth; ///< The steps of the reduction.
    mlir::Value unit;             ///< The number of the tile's rows.
    MatMulExtents extents;        ///< What is open of its size.
    MatMulZeros zeros;
    /// If set, stands for the rows behind it, of which there are none among the
    /// first sureRows of a tile.
    mlir::Value lastRow;
    int64_t sureRows = 1;
    /// In a subroutine that is told: how far apart rows of A are, and what the
    /// tile fetches first.
    mlir::Value rowStride = {}, fetched = {};
    /// What the zero point of columns adds to each row of a tile, in all lanes,
    /// and the first of these rows; null where it adds nothing.
    mlir::Value rowSums = {}, firstSummed = {};
  };

  /// A panel of columns.
  struct Panel {
    mlir::Value firstColumn;
    int64_t vectors; ///< How many vectors it has,
    int64_t valid;   ///< and how many lanes of the last one are columns of B.
    mlir::Value source;  ///< The buffer that its rows are read from,
    mlir::Value offset;  ///< where its first row is there,
    int64_t stride;      ///< and how far apart rows are.
    bool isPadded;       ///< Whole vectors can be read.
    mlir::Value numbers; ///< Where its scales and zero points begin.
    mlir::Value left; ///< Of one vector that may reach beyond the columns: how
                      ///< many there are from its first one on.
    mlir::Value number; ///< Which one it is; null where they are not counted.
    /// In a subroutine that is told: how many steps the reduction has.
    mlir::Value steps = {};
  };

  /// How a tile of open rows takes a panel: with its neighbours, if \c
  /// isGrouped.
  struct Grouping {
    PanelGroup group;
    mlir::Value isGrouped;
    mlir::Value isFirst; ///< Of its group, in which all are computed.
    /// Whether there are no other panels for so few rows.
    bool takesAll;
  };

  /// What is computed in registers.
  struct Tile {
    RegisterTile registers;
    const Operands &operands;
    const Panel &panel;
    llvm::SmallVector<mlir::Value> aRows; ///< Where its rows of A begin.

    int64_t size() const { return registers.rows * registers.vectors; }
  };

  /// Some steps of a reduction.
  struct Range {
    mlir::Value first;
    int64_t steps;
    int64_t lastValid; ///< Products of the last one.
  };

  /// What columns are multiplied by as they are widened, and what is taken off
  /// before, a vector each of the panel; empty where nothing is.
  struct Numbers {
    llvm::SmallVector<mlir::Value> scales, zeros;
  };

  void buildPanels(VectorBuilder &code, Operands &operands,
                   const TaskOrder::Task &place) const;
  void bringPanel(VectorBuilder &code, Operands &operands, Panel &panel,
                  mlir::Value number) const;
  void buildPanel(VectorBuilder &code, Operands &operands, const Panel &panel,
                  mlir::Value unit) const;
  OpenRowTiles openTiles() const {
    // Weights from memory wait for what is computed of one row twice; where
    // they stay in the cache, less code counts.
    return OpenRowTiles(rowTiles.size, panelVectors * floatSets,
                        streamsWeights
                            ? OpenRowTiles::latency * target.multiplyAdds
                            : OpenRowTiles::busySums);
  }
  void buildClosedTile(VectorBuilder &code, Operands &operands,
                       const Panel &panel, mlir::Value unit) const;
  void buildOpenTile(VectorBuilder &code, Operands &operands,
                     const Panel &panel, mlir::Value unit) const;
  bool isFewOfMany(const Panel &panel) const;
  void
  forPieces(VectorBuilder &code, const OpenRowTiles &tiles,
            const OpenRowTiles::Tile &tile, const Panel &panel,
            llvm::ArrayRef<Grouping> groupings,
            llvm::function_ref<void(const OpenRowTiles::Piece &, const Panel &)>
                emit) const;
  bool callsSums(const Panel &panel) const;
  void callSums(VectorBuilder &code, const Operands &operands,
                const Panel &panel, const OpenRowTiles &tiles,
                const OpenRowTiles::Tile &tile,
                llvm::ArrayRef<Grouping> groupings, mlir::Value panels,
                const WaitingRows &waiting) const;
  llvm::SmallVector<Grouping> groupingsOf(VectorBuilder &code,
                                          const OpenRowTiles::Tile &tile,
                                          const Panel &panel) const;
  void buildTile(VectorBuilder &code, Operands &operands, const Panel &panel,
                 mlir::Value firstRow, int64_t rows) const;
  /// A group of panels is for few rows, which are no longer at it than the next
  /// one takes to come.
  bool fetchesNext(const Panel &panel) const {
    return MatMulPlan::fetchesNext() && panel.vectors <= panelVectors;
  }
  /// Whether sums are complete behind these steps.
  bool endsSums(const Operands &operands) const;
  bool finishesInLoop(const Operands &operands, const Panel &panel) const;
  mlir::Value rowAt(VectorBuilder &code, const Operands &operands,
                    mlir::Value firstRow, mlir::Value row) const;
  void finishRow(VectorBuilder &code, Operands &operands, const Panel &panel,
                 mlir::Value row, mlir::ValueRange sums) const;
  llvm::SmallVector<mlir::Value> reduce(VectorBuilder &code, Operands &operands,
                                        const Panel &panel,
                                        mlir::Value firstRow,
                                        int64_t rows) const;
  llvm::SmallVector<mlir::Value> reduceBlocks(VectorBuilder &code,
                                              const Tile &tile,
                                              mlir::ValueRange sums) const;
  llvm::SmallVector<mlir::Value>
  reduceRange(VectorBuilder &code, const Tile &tile, const Range &range,
              mlir::ValueRange sums, const Numbers &numbers) const;
  /// Steps between the lines that a tile fetches of the next panel.
  int64_t stepsApart() const;
  mlir::Value firstFetched(VectorBuilder &code, const Operands &operands,
                           const Panel &panel) const;
  mlir::Value rowOfA(VectorBuilder &code, const Operands &operands,
                     mlir::Value row) const;
  /// panelElements(), as an index.
  mlir::Value panelDistance(VectorBuilder &code, const Panel &panel) const;
  /// Those of \p block, along k, or of a row where blocks lie along n.
  Numbers numbersOf(VectorBuilder &code, const Operands &operands,
                    const Panel &panel, mlir::Value block) const;
  /// Those of each product of a group where blocks lie along n, else \p all.
  llvm::SmallVector<Numbers> numbersOfStep(VectorBuilder &code,
                                           const Operands &operands,
                                           const Panel &panel, mlir::Value step,
                                           const Numbers &all) const;
  /// One step: \p k is its number, \p valid how much of its group there is.
  /// Sets of \p sums take turns, beginning with \p set.
  void emitStep(VectorBuilder &code, const Tile &tile, mlir::Value k,
                int64_t valid, llvm::MutableArrayRef<mlir::Value> sums,
                int64_t set, const Numbers &numbers) const;
  /// Panels of one vector each, for the \p left columns behind whole panels.
  void buildClipped(VectorBuilder &code, Operands &operands,
                    mlir::Value firstColumn, mlir::Value left,
                    mlir::Value unit) const;
  /// Stores what columns there are of \p sums, a vector each row.
  void finishClipped(VectorBuilder &code, Operands &operands,
                     const Panel &panel, mlir::Value row,
                     mlir::Value sums) const;
  /// Goes over the vectors of a row of a tile.
  void forRow(VectorBuilder &code, Operands &operands, const Panel &panel,
              mlir::Value row,
              llvm::function_ref<void(size_t i, int64_t valid)> body) const;
  /// Goes over the vectors of a tile, row by row.
  void forTile(VectorBuilder &code, Operands &operands, const Panel &panel,
               mlir::Value firstRow, int64_t rows,
               llvm::function_ref<void(size_t i, int64_t valid)> body) const;
  /// Where column \p number of that \p vector of the panel begins in B, whose
  /// columns lie side by side.
  mlir::Value columnOfB(VectorBuilder &code, const Operands &operands,
                        const Panel &panel, mlir::Value vector,
                        int64_t number) const;
  /// Calls \p body for blocks of \p depth elements of the columns of each
  /// vector: with the first of them, how many there are, the vector's number,
  /// and how many columns it has.
  void
  forColumnBlocks(VectorBuilder &code, const Panel &panel, int64_t depth,
                  llvm::function_ref<void(mlir::Value k, int64_t count,
                                          mlir::Value vector, int64_t columns)>
                      body) const;
  void packTransposed(VectorBuilder &code, Operands &operands,
                      const Panel &panel) const;
  void copyRows(VectorBuilder &code, Operands &operands,
                const Panel &panel) const;
  // Of bytes that are both computed.
  mlir::Value depthOf(VectorBuilder &code, const Operands &operands) const;
  void packBytes(VectorBuilder &code, Operands &operands, Panel &panel) const;
  void packWords(VectorBuilder &code, const Operands &operands,
                 const Panel &panel, mlir::Value word, mlir::Value v,
                 mlir::Value words) const;
  void packByteRows(VectorBuilder &code, const Operands &operands,
                    const Panel &panel) const;
  void packByteColumns(VectorBuilder &code, const Operands &operands,
                       const Panel &panel) const;
  void sumColumns(VectorBuilder &code, const Operands &operands,
                  const Panel &panel) const;
  /// What reduce() adds to \p rows rows, \p most at most.
  void sumRows(VectorBuilder &code, Operands &operands, mlir::Value firstRow,
               mlir::Value rows, int64_t most) const;
  mlir::Value sumOfRow(VectorBuilder &code, const Operands &operands,
                       mlir::Value row) const;
  /// \p sums as elements of the scratch buffer.
  mlir::VectorType inScratch(mlir::VectorType sums) const;
  /// What sums of a tile begin with.
  llvm::SmallVector<mlir::Value>
  firstSums(VectorBuilder &code, const Tile &tile, mlir::Value firstRow) const;
  void widenPanel(VectorBuilder &code, const Operands &operands,
                  const Panel &panel, mlir::Value packed) const;
  /// How far behind what is read at \p step weights are prefetched: so far that
  /// they come in time, in the same panel or in the one that is next.
  mlir::Value fetchedAhead(VectorBuilder &code, const Panel &panel,
                           mlir::Value step) const;
  /// The vectors of a step of a panel that lie at \p row of \p source, for each
  /// product of a group where \p stored is widened, else for all together;
  /// \p numbers are those of the products, or of all alike. What is so far
  /// \p ahead of them is prefetched, unless it is null.
  llvm::SmallVector<llvm::SmallVector<mlir::Value>>
  loadColumns(VectorBuilder &code, const Arithmetic &stored, const Panel &panel,
              mlir::Value source, mlir::Value row, mlir::Value ahead,
              llvm::ArrayRef<Numbers> numbers) const;
  /// Two vectors of bf16 that share words at \p at, in f32.
  std::pair<mlir::Value, mlir::Value>
  loadPair(VectorBuilder &code, mlir::Value source, mlir::Value at) const;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_MATMUL_H
