//===- TileProduct.h - generator of AMX matmuls and convolutions ----------===//
//
// C[row, n] = sum over blocks b of k, taps t, k in b of
//               A[position(row) + offset(t), k] * B[n, k, t]
//
// The common part of matmul and convolution. A task stages its operand in
// scratch memory of its thread, in blocks of 64 bytes along k, split into bf16
// terms (TileArithmetic):
//
//     [term][block of k][position][64 bytes]
//
// so that rows of a tile are adjacent there, and stay in the second-level cache
// while the task loops over panels of 32 columns. Where several tasks use the
// same rows, separate staging tasks store all values to shared memory, followed
// by a line of 64 bytes per staging task with its largest magnitude
// (StageTiles.cpp). Each panel's weights are packed in the order of use, two
// registers of 16 columns per step and term. Two tiles of rows by two of
// columns are accumulated at once, stored to the stack, and passed from there
// to the epilogue, row by row. Meanwhile each group prefetches its share of the
// next panel.
//
// Activations may be in memory in that layout, split (TileTerms). Then users
// stage nothing, and producers split results as they store them.
//
// Rows are split into the fewest possible tiles, of one height: 49 rows are
// four tiles of 13, whose multiplications take 13 cycles each, not 16.
//
// A task with an activation or a weight that is infinite, NaN or larger than
// 2^30 is multiplied in f32, on vectors, from the original operands in memory.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_AMX_TILEPRODUCT_H
#define SINTER_BACKEND_CPU_KERNELS_AMX_TILEPRODUCT_H

#include "backend/cpu/kernels/amx/TileArithmetic.h"
#include "backend/cpu/kernels/amx/TileRegisters.h"
#include "backend/cpu/kernels/amx/TileTasks.h"
#include "backend/cpu/kernels/amx/TileTerms.h"
#include "backend/cpu/kernels/amx/TileVectors.h"
#include "backend/cpu/target/Target.h"

namespace sinter::cpu {

/// Sizes of what one task may read; a position has 64 bytes per term and block.
struct TileProductShape {
  int64_t n = 0; ///< Columns.
  int64_t k = 0; ///< Terms of the sum for each tap.
  /// For grouped columns, each group with its own range of k: the size of both,
  /// 1, 2, 4, ... 64 or a multiple of that; else 0. A panel is multiplied by
  /// the blocks of k that contain its groups' ranges, with zero weights
  /// elsewhere.
  int64_t group = 0;
  int64_t tapRows = 1, tapColumns = 1;
  int64_t tapRowStep = 0, tapColumnStep = 0; ///< In positions.
  int64_t rowStep = 1;   ///< Positions between neighbouring rows.
  int64_t tileRows = 1;  ///< Rows of each tile.
  int64_t positions = 1; ///< The most that a task stages.
  /// If there are staging tasks, the positions of each but the last; else 0.
  int64_t cutPositions = 0;
  /// For integers: whether each column's accumulators start from minus the zero
  /// point times the sum of its weights.
  bool hasZeroPoint = false;
  /// Whether results have room for whole registers of 16 columns.
  bool fillsColumns = false;

  int64_t taps() const { return tapRows * tapColumns; }
  int64_t weights() const { return n * (group ? group : k) * taps(); }
  /// The index in \p column's own range of k of index \p i along k; -1 if it is
  /// outside.
  int64_t ownNumber(int64_t column, int64_t i) const {
    const int64_t own = group ? i - column / group * group : i;
    return i < k && own >= 0 && own < (group ? group : k) ? own : -1;
  }
};

/// The location of a tile of rows.
struct TilePlace {
  mlir::Value position; ///< The staged position of its first row.
  mlir::Value rows;     ///< The rows that are results,
  mlir::Value first;    ///< and the index of the first.
};

class TileProduct {
public:
  static constexpr int64_t panelTiles = TileRegisters::panelTiles;
  static constexpr int64_t panelColumns = TileRegisters::panelColumns;

  TileProduct(const TileProductShape &shape, const TileArithmetic &arithmetic);

  const TileArithmetic &numbers() const { return arithmetic; }
  int64_t depthBlocks() const {
    return (shape.k + arithmetic.blockElements() - 1) /
           arithmetic.blockElements();
  }
  /// The blocks that a panel is multiplied by, and the first one of panel
  /// \p number.
  int64_t panelBlocks() const {
    return shape.group
               ? std::max<int64_t>(1, shape.group / arithmetic.blockElements())
               : depthBlocks();
  }
  int64_t firstBlock(int64_t number) const;
  int64_t panels() const { return (columnTiles() + 1) / panelTiles; }
  int64_t columnTiles() const { return (shape.n + 15) / 16; }
  /// Bytes of scratch memory of each thread, or of the memory that all tasks
  /// share.
  int64_t scratchBytes() const;
  int64_t packedBytes() const;

  /// Packs weights of type TileArithmetic::rhs: that of column n, index k
  /// (within its group) and tap t is at n * nStride + k * kStride + t *
  /// tapStride. They are dense.
  void pack(const void *weights, int64_t nStride, int64_t kStride,
            int64_t tapStride, void *packed) const;

  /// Receives the elements at \p position and \p block, as
  /// TileArithmetic::split takes them, and returns the loop-carried value.
  using Put = llvm::function_ref<mlir::Value(
      mlir::Value position, mlir::Value block, mlir::ValueRange elements,
      mlir::Value carried)>;
  /// Iterates over all elements that a task stages.
  using Source = llvm::function_ref<mlir::Value(mlir::Value carried, Put put)>;
  /// The epilogue of a vector of accumulators of columns from \p column on, for
  /// the results at \p offset.
  using Finish =
      llvm::function_ref<mlir::Value(mlir::Value row, mlir::Value column,
                                     mlir::Value offset, mlir::Value sums)>;

  /// The destination of results.
  struct Results {
    mlir::Value memory; ///< Flat, of elements, or of bytes if split.
    /// In elements, also where results are stored split.
    llvm::function_ref<mlir::Value(mlir::Value row, mlir::Value column)> offset;
    Finish finish;
    const TileTerms *parts = nullptr; ///< The split layout, if any,
    mlir::Value start = {};           ///< and its start in memory.
    bool areInRows = true; ///< Whether each tile is in one row of pixels.
  };

  /// The f32 values of positions.
  using AllNumbers = llvm::function_ref<TileVectorValues()>;

  /// Staged values.
  using Staged = TileTerms::Image;
  /// Emits a staging task, of the positions of \p source from number *
  /// cutPositions on.
  void buildCut(VectorBuilder &code, const Staged &staged, mlir::Value number,
                Source source) const;

  struct Task {
    Staged staged;
    mlir::Value weights; ///< Flat, of anything.
    mlir::Value tiles;   ///< The number of tiles of rows.
    mlir::Value firstPanel, endPanel;
    /// The most tiles of rows of any task.
    int64_t mostTiles = 1;
    bool areEven = false; ///< Whether each task has an even number.
    /// The zero point as accumulators of 16 columns, if the shape has one.
    mlir::Value zero = {};
    /// The positions that it reads, if staging tasks stored them, or its rows
    /// of a split operand.
    mlir::Value firstPosition = {}, endPosition = {};
    /// The layout of a split operand, which is `staged`.
    const TileTerms *parts = nullptr;
    // Where sizes are dynamic, in place of the shape's.
    mlir::Value tapRowStep = {};
    NumberAtStart tileRows = {};
  };
  /// Emits a task. \p source is not used with staging tasks, and \p numbers
  /// only for float operands that are not split.
  void build(VectorBuilder &code, const Task &task, Source source,
             AllNumbers numbers,
             llvm::function_ref<TilePlace(mlir::Value tile)> placeTile,
             const Results &results) const;

  /// Seconds of one thread for the products of \p tiles tiles of rows.
  double productSeconds(int64_t tiles, const Target &target) const;
  /// Seconds to stage \p positions.
  double stageSeconds(int64_t positions, const Target &target) const;
  /// The same for staging tasks, whose results other tasks read.
  double sharedStageSeconds(int64_t positions, const Target &target) const;
  /// The positions of each staging task, of \p positions in all, a multiple of
  /// \p units: few enough tasks to be worth it and enough for all threads.
  int64_t cutPositionsFor(int64_t positions, int64_t units,
                          const Target &target) const;
  /// Bytes of a task's staged values.
  int64_t stagedBytes(int64_t positions) const;

private:
  struct Emission;
  int64_t steps() const { return panelBlocks() * shape.taps(); }
  int64_t stepBytes(int64_t tiles) const {
    return tiles * arithmetic.rhsTerms * tileBytes;
  }
  int64_t panelBytes() const { return steps() * stepBytes(panelTiles); }
  int64_t weightBytes() const { return steps() * stepBytes(columnTiles()); }
  bool isShared() const { return shape.cutPositions != 0; }
  int64_t planeBytes() const;
  bool hasInitialSums() const { return shape.hasZeroPoint; }
  void buildPanel(Emission &e, mlir::Value panel, int64_t tiles,
                  int64_t valid) const;
  void buildGroup(Emission &e, mlir::Value firstTile) const;
  void multiplyTiles(Emission &e, llvm::ArrayRef<TilePlace> places) const;
  void fetchNext(Emission &e, mlir::Value step) const;
  void multiplyVectors(Emission &e, mlir::Value rowTile,
                       const TilePlace &place) const;
  void storeResults(Emission &e, mlir::Value rowTile,
                    const TilePlace &place) const;
  void storeTerms(Emission &e, mlir::Value rowTile,
                  const TilePlace &place) const;
  mlir::Value resultsAt(Emission &e, mlir::Value rowTile,
                        const TilePlace &place, mlir::Value i, mlir::Value c,
                        int64_t valid) const;
  /// The location of a step of the reduction: its tap's position relative to
  /// the row, and its block of k.
  struct Step {
    mlir::Value number, position, block;
  };
  IndexBuilder::Carried
  forSteps(Emission &e, mlir::ValueRange carried,
           llvm::function_ref<IndexBuilder::Carried(const Step &,
                                                    mlir::ValueRange carried)>
               body) const;
  // Staging.
  mlir::Value stage(VectorBuilder &code, const Staged &staged,
                    Source source) const;
  mlir::Value stagedOffset(VectorBuilder &code, const Staged &staged,
                           mlir::Value block, mlir::Value position) const;
  mlir::Value magnitudePlace(VectorBuilder &code, const Staged &staged,
                             mlir::Value number) const;
  mlir::Value largest(VectorBuilder &code, const Task &task,
                      Source source) const;
  mlir::Value largestOfStaged(VectorBuilder &code, const Task &task) const;
  void judge(Emission &e, mlir::Value largest) const;

  TileProductShape shape;
  TileArithmetic arithmetic;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_AMX_TILEPRODUCT_H
