//===- TileProduct.h - generator of products on matrix units --------------===//
//
// C[row, n] = sum over blocks b of k, taps t, k in b of
//               A[position(row) + offset(t), k] * B[n, k, t]
//
// What a matrix product and a convolution share. A task brings the numbers that
// it multiplies into scratch memory of its thread, in blocks of 64 bytes along
// k, cut into parts (TileArithmetic):
//
//     [part][block of k][position][64 bytes]
//
// so that rows of a tile are neighbours there, wherever they lay, and stay in
// the second-level cache while the task goes over panels of 32 columns. Where
// several tasks take the same rows, tasks of their own bring all numbers into
// memory that all share, with the magnitude of the largest number of each such
// task behind them, in a line of 64 bytes (StageTiles.cpp). Each
// panel's weights are packed in the order in which they are read, two registers
// of 16 columns a step and part. Two tiles of rows by two of columns are summed
// up at once, stored to the stack, and handed on from there, row by row; each
// two fetch their part of the next panel meanwhile.
//
// Activations may lie in memory so, in parts (TileParts). Then nothing is
// brought together where they are read, and results are cut as they are stored.
//
// Rows are cut into tiles of one height, as few as hold them: 49 rows are four
// tiles of 13, whose products take 13 cycles each, not 16.
//
// A task of which a number or a weight is infinite, NaN or larger than 2^30 is
// multiplied in f32, on vectors, by numbers from where they lay before.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_TILEPRODUCT_H
#define SINTER_BACKEND_CPU_KERNELS_TILEPRODUCT_H

#include "backend/cpu/codegen/Target.h"
#include "backend/cpu/kernels/TileArithmetic.h"
#include "backend/cpu/kernels/TileCut.h"
#include "backend/cpu/kernels/TileParts.h"
#include "backend/cpu/kernels/TileRegisters.h"
#include "backend/cpu/kernels/TileVectors.h"

namespace sinter::cpu {

/// Sizes of what one task may read; positions are of 64 bytes a part and block.
struct TileProductShape {
  int64_t n = 0; ///< Columns.
  int64_t k = 0; ///< Products for each tap.
  /// Where columns come in groups, each with numbers along k of its own: how
  /// many it has of both, 1, 2, 4, ... 64 or a multiple of that; else 0. A
  /// panel is multiplied by the blocks that have its columns' numbers, and by
  /// zeros what else is in them.
  int64_t group = 0;
  int64_t tapRows = 1, tapColumns = 1;
  int64_t tapRowStep = 0, tapColumnStep = 0; ///< In positions.
  int64_t rowStep = 1;   ///< Positions between neighbouring rows.
  int64_t tileRows = 1;  ///< Rows of each tile.
  int64_t positions = 1; ///< That a task brings together, at most.
  /// Where tasks of their own bring all together, how many positions each has,
  /// but the last; else 0.
  int64_t cutPositions = 0;
  /// Of integers: each column's sums start from what products of its weights by
  /// a zero point take off.
  bool hasZeroPoint = false;
  /// Results have room for whole registers of 16 columns.
  bool fillsColumns = false;

  int64_t taps() const { return tapRows * tapColumns; }
  int64_t weights() const { return n * (group ? group : k) * taps(); }
  /// Where the weight is that \p column has for number \p i along k, among its
  /// own; -1 if it has none.
  int64_t ownNumber(int64_t column, int64_t i) const {
    const int64_t own = group ? i - column / group * group : i;
    return i < k && own >= 0 && own < (group ? group : k) ? own : -1;
  }
};

/// Where a tile of rows is.
struct TilePlace {
  mlir::Value position; ///< Of its first row, among what was brought together.
  mlir::Value rows;     ///< How many of its rows are results,
  mlir::Value first;    ///< and the number of the first.
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
  /// Of those, how many a panel is multiplied by, and the first of panel
  /// \p number.
  int64_t panelBlocks() const {
    return shape.group
               ? std::max<int64_t>(1, shape.group / arithmetic.blockElements())
               : depthBlocks();
  }
  int64_t firstBlock(int64_t number) const;
  int64_t panels() const { return (columnTiles() + 1) / panelTiles; }
  int64_t columnTiles() const { return (shape.n + 15) / 16; }
  /// Bytes of scratch memory of each thread, or of what all tasks share.
  int64_t scratchBytes() const;
  int64_t packedBytes() const;

  /// Packs weights of elements TileArithmetic::rhs: that of column n, number k
  /// (of its own group) and tap t is at n * nStride + k * kStride +
  /// t * tapStride. There are no others between them.
  void pack(const void *weights, int64_t nStride, int64_t kStride,
            int64_t tapStride, void *packed) const;

  /// Takes what lies at \p position and \p block, elements as
  /// TileArithmetic::split has them, and hands on what goes round.
  using Put = llvm::function_ref<mlir::Value(
      mlir::Value position, mlir::Value block, mlir::ValueRange elements,
      mlir::Value carried)>;
  /// Goes over all that a task brings together.
  using Source = llvm::function_ref<mlir::Value(mlir::Value carried, Put put)>;
  /// What becomes of sums of columns from \p column on, as many as the vector
  /// has, the ones at \p offset of the results.
  using Finish =
      llvm::function_ref<mlir::Value(mlir::Value row, mlir::Value column,
                                     mlir::Value offset, mlir::Value sums)>;

  /// Where results go.
  struct Results {
    mlir::Value memory; ///< Flat, of elements, or of bytes for parts.
    /// Of elements, also where results are stored in parts.
    llvm::function_ref<mlir::Value(mlir::Value row, mlir::Value column)> offset;
    Finish finish;
    const TileParts *parts = nullptr; ///< In which they are stored.
    mlir::Value start = {};           ///< Where these begin in memory.
    bool areInRows = true; ///< Whether each tile is in one row of pixels.
  };

  /// The numbers that positions stand for, as f32.
  using AllNumbers = llvm::function_ref<TileVectorNumbers()>;

  /// Numbers that were brought together.
  using Staged = TileParts::Image;
  /// Emits a task that brings the positions of \p source together for others:
  /// those from number * cutPositions on.
  void buildCut(VectorBuilder &code, const Staged &staged, mlir::Value number,
                Source source) const;

  struct Task {
    Staged staged;
    mlir::Value weights; ///< Flat, of anything.
    mlir::Value tiles;   ///< How many tiles of rows there are.
    mlir::Value firstPanel, endPanel;
    /// The most tiles of rows that any task has.
    int64_t mostTiles = 1;
    bool areEven = false; ///< Whether each has an even number.
    /// The zero point as sums of 16 columns, where the shape has one.
    mlir::Value zero = {};
    /// The positions that it reads, where others brought them together, or
    /// its rows of what is stored in parts.
    mlir::Value firstPosition = {}, endPosition = {};
    /// Where what it reads is stored in parts: these, which are `staged`.
    const TileParts *parts = nullptr;
    // Where sizes are open, in place of the shape's.
    mlir::Value tapRowStep = {};
    NumberAtStart tileRows = {};
  };
  /// Emits a task. \p source is not asked where others bring together, and
  /// \p numbers is for what is neither of bytes nor stored in parts.
  void build(VectorBuilder &code, const Task &task, Source source,
             AllNumbers numbers,
             llvm::function_ref<TilePlace(mlir::Value tile)> placeOf,
             const Results &results) const;

  /// Seconds that the products of so many tiles of rows take one thread.
  double productSeconds(int64_t tiles, const Target &target) const;
  /// Seconds for bringing \p positions together.
  double stageSeconds(int64_t positions, const Target &target) const;
  /// The same for tasks of their own, whose numbers others read.
  double sharedStageSeconds(int64_t positions, const Target &target) const;
  /// So many positions for each of such tasks, of \p positions in all, whole
  /// \p units: as few tasks as are worth their while and enough for threads.
  int64_t cutPositionsFor(int64_t positions, int64_t units,
                          const Target &target) const;
  /// Bytes of a task's numbers.
  int64_t stagedBytes(int64_t positions) const;

private:
  struct Emission;
  int64_t steps() const { return panelBlocks() * shape.taps(); }
  int64_t stepBytes(int64_t tiles) const {
    return tiles * arithmetic.rhsParts * tileBytes;
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
  void storeParts(Emission &e, mlir::Value rowTile,
                  const TilePlace &place) const;
  mlir::Value resultsAt(Emission &e, mlir::Value rowTile,
                        const TilePlace &place, mlir::Value i, mlir::Value c,
                        int64_t valid) const;
  /// Where a step of a product is: its tap's position, counted from that of a
  /// row, and its block of k.
  struct Step {
    mlir::Value number, position, block;
  };
  IndexBuilder::Carried
  forSteps(Emission &e, mlir::ValueRange carried,
           llvm::function_ref<IndexBuilder::Carried(const Step &,
                                                    mlir::ValueRange carried)>
               body) const;
  // Of numbers that are brought together.
  mlir::Value stage(VectorBuilder &code, const Staged &staged,
                    Source source) const;
  mlir::Value placeOf(VectorBuilder &code, const Staged &staged,
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

#endif // SINTER_BACKEND_CPU_KERNELS_TILEPRODUCT_H
