//===- MatMul.h - generator of matmuls ------------------------------------===//
//
// C[m,n] = epilogue(sum over k of A[m,k] * B[k,n]), for any batch, one kernel
// per shape. Packed elements of B may be narrower than the accumulators, and
// are dequantised in blocks along k:
//
//   (B[k,n] - zero[k / size, n]) * scale[k / size, n]
//
// or along n, with zero[k, n / columns] and scale[k, n / columns]. Tiles of few
// rows accumulate blocks separately and scale the accumulators; tiles of more
// rows scale elements after widening. For many rows each panel is widened once,
// into memory of the thread.
//
// For int8 matmuls of two activations zero points are subtracted, one for all
// of A and one for all of B:
//
//   C[m,n] = epilogue(sum over k of (A[m,k] - zeroA) * (B[k,n] - zeroB))
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_GEMM_MATMUL_H
#define SINTER_BACKEND_CPU_KERNELS_GEMM_MATMUL_H

#include "backend/cpu/kernels/gemm/DynamicRowTiles.h"
#include "backend/cpu/kernels/gemm/MatMulPlan.h"

namespace sinter::cpu {

/// The position of a vector of results in C.
struct MatMulPosition {
  llvm::SmallVector<mlir::Value> batch; ///< One index per batch dimension.
  mlir::Value row, column;              ///< Of the vector's first element.
  mlir::Value offset;                   ///< In elements from the start of C.
};

/// Receives neighbours in one row. The vector may be shorter than a register at
/// the right edge: use its type.
using MatMulEpilogue = ResultEpilogue<MatMulPosition>;

/// Scales and zero points of blocks, packed by MatMul::packNumbers; null where
/// there are none.
struct MatMulNumbers {
  mlir::Value scales, zeros;
};

/// The 32-bit zero points of int8 matmuls of two activations; null for 0. That
/// of B is for its elements after any change of signedness.
struct MatMulZeros {
  mlir::Value lhs, rhs;
};

/// How large a product is whose shape says that this is given.
struct MatMulExtents {
  mlir::Value rows, columns, depth;
};

/// The offsets of matrices in their buffers, in elements.
struct MatMulOrigin {
  mlir::Value a, b, c;
};

/// Generates the code of a matmul by its plan.
class MatMul : public MatMulPlan {
public:
  using MatMulPlan::MatMulPlan;

  /// Emits one task of a stage. \p a, \p b, \p c are contiguous memrefs of any
  /// rank; \p scratch may be null if scratchElements() is 0, and likewise
  /// \p epilogue. With \p origin, the first matrices begin there. \p numbers
  /// are required if the shape has blocks.
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
  /// The flat buffers, and the offsets of this task's matrices in them.
  struct Operands {
    mlir::Value a, b, c, scratch;
    MatMulNumbers numbers;
    mlir::Value aBase, bBase, cBase;
    MatMulPosition position;
    const MatMulEpilogue *epilogue;
    int64_t firstDepth, endDepth; ///< The steps of the reduction.
    mlir::Value unit;             ///< The index of the tile of rows.
    MatMulExtents extents;        ///< What is dynamic of its size.
    MatMulZeros zeros;
    /// If set, replaces the rows after it. The first sureRows of a tile exist.
    mlir::Value lastRow;
    int64_t sureRows = 1;
    /// If arguments of a subroutine: the stride of rows of A, and the first
    /// line that the tile prefetches.
    mlir::Value rowStride = {}, fetched = {};
    /// The contribution of the columns' zero point to each row of a tile, in
    /// all lanes, and the first of these rows; null without one.
    mlir::Value rowSums = {}, firstSummed = {};
  };

  /// A panel of columns.
  struct Panel {
    mlir::Value firstColumn;
    int64_t vectors;     ///< Its vectors,
    int64_t valid;       ///< and the valid lanes of the last one.
    mlir::Value source;  ///< The buffer of its rows,
    mlir::Value offset;  ///< the offset of the first one,
    Dim stride;          ///< and the stride of rows.
    bool isPadded;       ///< Whether whole vectors can be read.
    mlir::Value numbers; ///< The offset of its scales and zero points.
    mlir::Value left; ///< Of one vector that may reach beyond the columns: how
                      ///< many there are from its first one on.
    mlir::Value number; ///< Which one it is; null where they are not counted.
    /// In a subroutine that is told: how many steps the reduction has.
    mlir::Value steps = {};
  };

  /// How a tile of dynamic rows computes a panel: with its neighbours, if \c
  /// isGrouped.
  struct Grouping {
    PanelGroup group;
    mlir::Value isGrouped;
    mlir::Value isFirst; ///< Of its group, in which all are computed.
    /// Whether there are no other panels for so few rows.
    bool takesAll;
  };

  /// A tile in registers.
  struct Tile {
    RegisterTile registers;
    const Operands &operands;
    const Panel &panel;
    llvm::SmallVector<mlir::Value> aRows; ///< The offsets of its rows of A.

    int64_t size() const { return registers.rows * registers.vectors; }
  };

  /// Some steps of a reduction.
  struct Range {
    mlir::Value first;
    int64_t steps;
    int64_t lastValid; ///< Products of the last step.
  };

  /// The scales and zero points of columns that are widened, one of each per
  /// vector of the panel; empty without them.
  struct ScalesAndZeros {
    llvm::SmallVector<mlir::Value> scales, zeros;
  };

  void buildPanels(VectorBuilder &code, Operands &operands,
                   const TaskOrder::Task &place) const;
  void bringPanel(VectorBuilder &code, Operands &operands, Panel &panel,
                  mlir::Value number) const;
  void buildPanel(VectorBuilder &code, Operands &operands, const Panel &panel,
                  mlir::Value unit) const;
  DynamicRowTiles dynamicTiles() const {
    // Loading weights from memory takes twice as long as computing one row; if
    // they stay in the cache, code size matters more.
    return DynamicRowTiles(rowTiles.size, panelVectors * floatSets,
                           streamsWeights
                               ? DynamicRowTiles::latency * target.multiplyAdds
                               : DynamicRowTiles::busySums);
  }
  void buildClosedTile(VectorBuilder &code, Operands &operands,
                       const Panel &panel, mlir::Value unit) const;
  void buildDynamicTile(VectorBuilder &code, Operands &operands,
                        const Panel &panel, mlir::Value unit) const;
  bool isFewOfMany(const Panel &panel) const;
  void forPieces(
      VectorBuilder &code, const DynamicRowTiles &tiles,
      const DynamicRowTiles::Tile &tile, const Panel &panel,
      llvm::ArrayRef<Grouping> groupings,
      llvm::function_ref<void(const DynamicRowTiles::Piece &, const Panel &)>
          emit) const;
  bool callsSums(const Panel &panel) const;
  void callSums(VectorBuilder &code, const Operands &operands,
                const Panel &panel, const DynamicRowTiles &tiles,
                const DynamicRowTiles::Tile &tile,
                llvm::ArrayRef<Grouping> groupings, mlir::Value panels,
                const WaitingRows &waiting) const;
  llvm::SmallVector<Grouping> groupingsOf(VectorBuilder &code,
                                          const DynamicRowTiles::Tile &tile,
                                          const Panel &panel) const;
  void buildTile(VectorBuilder &code, Operands &operands, const Panel &panel,
                 mlir::Value firstRow, int64_t rows) const;
  /// Whether the next panel is prefetched. A group of panels is for few rows,
  /// which are too short to hide that.
  bool fetchesNext(const Panel &panel) const {
    return MatMulPlan::fetchesNext() && panel.vectors <= panelVectors;
  }
  /// Whether accumulators are complete after these steps.
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
              mlir::ValueRange sums, const ScalesAndZeros &numbers) const;
  /// Steps between the cache lines of the next panel that a tile prefetches.
  int64_t stepsApart() const;
  mlir::Value firstFetched(VectorBuilder &code, const Operands &operands,
                           const Panel &panel) const;
  mlir::Value rowOfA(VectorBuilder &code, const Operands &operands,
                     mlir::Value row) const;
  /// panelElements(), as an index.
  mlir::Value panelDistance(VectorBuilder &code, const Panel &panel) const;
  /// The scales and zero points of \p block along k, or of a row if blocks are
  /// along n.
  ScalesAndZeros scalesAndZerosOf(VectorBuilder &code, const Operands &operands,
                                  const Panel &panel, mlir::Value block) const;
  /// The scales and zero points of each matmul of a group if blocks are along
  /// n, else \p all.
  llvm::SmallVector<ScalesAndZeros>
  scalesAndZerosOfStep(VectorBuilder &code, const Operands &operands,
                       const Panel &panel, mlir::Value step,
                       const ScalesAndZeros &all) const;
  /// Emits one step: \p k is its index, \p valid the valid elements of its
  /// group. Sets of accumulators \p sums alternate, starting with \p set.
  void emitStep(VectorBuilder &code, const Tile &tile, mlir::Value k,
                int64_t valid, llvm::MutableArrayRef<mlir::Value> sums,
                int64_t set, const ScalesAndZeros &numbers) const;
  /// Emits panels of one vector each, for the \p left columns after whole
  /// panels.
  void buildClipped(VectorBuilder &code, Operands &operands,
                    mlir::Value firstColumn, mlir::Value left,
                    mlir::Value unit) const;
  /// Stores the existing columns of \p sums, one vector per row.
  void finishClipped(VectorBuilder &code, Operands &operands,
                     const Panel &panel, mlir::Value row,
                     mlir::Value sums) const;
  /// Loops over the vectors of a row of a tile.
  void forRow(VectorBuilder &code, Operands &operands, const Panel &panel,
              mlir::Value row,
              llvm::function_ref<void(size_t i, int64_t valid)> body) const;
  /// Loops over the vectors of a tile, row by row.
  void forTile(VectorBuilder &code, Operands &operands, const Panel &panel,
               mlir::Value firstRow, int64_t rows,
               llvm::function_ref<void(size_t i, int64_t valid)> body) const;
  /// The offset in B, whose columns are contiguous, of column \p number of
  /// vector \p vector of the panel.
  mlir::Value columnOfB(VectorBuilder &code, const Operands &operands,
                        const Panel &panel, mlir::Value vector,
                        int64_t number) const;
  /// Calls \p body for blocks of \p depth elements of the columns of each
  /// vector: with the first element, their count, the vector's index, and its
  /// columns.
  void
  forColumnBlocks(VectorBuilder &code, const Panel &panel, int64_t depth,
                  llvm::function_ref<void(mlir::Value k, int64_t count,
                                          mlir::Value vector, int64_t columns)>
                      body) const;
  void packTransposed(VectorBuilder &code, Operands &operands,
                      const Panel &panel) const;
  void copyRows(VectorBuilder &code, Operands &operands,
                const Panel &panel) const;
  // For int8 matmuls of two activations.
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
  /// Computes the row corrections that reduce() adds, for \p rows rows, at most
  /// \p most.
  void sumRows(VectorBuilder &code, Operands &operands, mlir::Value firstRow,
               mlir::Value rows, int64_t most) const;
  mlir::Value sumOfRow(VectorBuilder &code, const Operands &operands,
                       mlir::Value row) const;
  /// \p sums as elements of the scratch buffer.
  mlir::VectorType inScratch(mlir::VectorType sums) const;
  /// The initial accumulators of a tile.
  llvm::SmallVector<mlir::Value>
  firstSums(VectorBuilder &code, const Tile &tile, mlir::Value firstRow) const;
  void widenPanel(VectorBuilder &code, const Operands &operands,
                  const Panel &panel, mlir::Value packed) const;
  /// The prefetch distance of weights at \p step: far enough that they arrive
  /// in time, in the same panel or the next one.
  mlir::Value fetchedAhead(VectorBuilder &code, const Panel &panel,
                           mlir::Value step) const;
  /// The vectors of a step of a panel at \p row of \p source, for each product
  /// of a group if \p stored is widened, else for all together; \p numbers are
  /// those of each product, or common ones. Prefetches at distance \p ahead,
  /// unless it is null.
  llvm::SmallVector<llvm::SmallVector<mlir::Value>>
  loadColumns(VectorBuilder &code, const Arithmetic &stored, const Panel &panel,
              mlir::Value source, mlir::Value row, mlir::Value ahead,
              llvm::ArrayRef<ScalesAndZeros> numbers) const;
  /// Two vectors of bf16 that share 32-bit lanes at \p at, in f32.
  std::pair<mlir::Value, mlir::Value>
  loadPair(VectorBuilder &code, mlir::Value source, mlir::Value at) const;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_GEMM_MATMUL_H
