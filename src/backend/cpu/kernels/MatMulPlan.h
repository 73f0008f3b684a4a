//===- MatMulPlan.h - how a matrix product is cut -------------------------===//
//
// A product is cut into panels of columns, tiles of rows and, where operands
// do not fit the second-level cache together, stages of the reduction; packed
// columns lie panel after panel.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_MATMULPLAN_H
#define SINTER_BACKEND_CPU_KERNELS_MATMULPLAN_H

#include "backend/cpu/kernels/Tiling.h"

#include <functional>
#include <optional>
#include <vector>

namespace sinter::cpu {

/// Neighbours along k that are packed together, whatever a step takes of them.
inline constexpr int64_t bytesOfWord = 4;

/// All strides count elements.
struct MatMulShape {
  int64_t m = 0, n = 0, k = 0;
  /// Where m is known only when the program runs: what it is the product of,
  /// with named sizes. Then m is an estimate; B is packed, or has its rows side
  /// by side.
  std::vector<int64_t> openRows;
  /// Where build() is told how many rows, columns or steps of the reduction
  /// there are (MatMulExtents); m, n and k are the most that there may be then.
  bool givenRows = false, givenColumns = false, givenDepth = false;
  /// Where columns are given: whether what is beyond them is neither read nor
  /// written. B is no constant then.
  bool clipsColumns = false;

  /// A[m,k] is at m * aRowStride + k * aColumnStride; a transposed matrix has
  /// the column stride larger than the row stride.
  int64_t aRowStride = 0, aColumnStride = 1;

  enum class BLayout {
    Packed, ///< A constant, packed by MatMul::pack; the same in all batches.
    Rows,   ///< B[k,n] is at k * bStride + n.
    CopiedRows, ///< The same; what a task reads of it is copied together first.
    Transposed, ///< B[k,n] is at n * bStride + k.
  };
  BLayout bLayout = BLayout::Packed;
  int64_t bStride = 0;
  /// Of bytes that are no constant: those of B are of the other sign than the
  /// arithmetic's, and have their highest bit turned as they are packed.
  bool turnsB = false;

  int64_t cRowStride = 0; ///< C[m,n] is at m * cRowStride + n.
  /// Whether narrow columns are widened in each tile, however many rows there
  /// are.
  bool widensInTiles = false;
  /// C holds elements of the product's type, so that it can hold sums that are
  /// not complete from one stage to the next.
  bool holdsSums = false;

  /// What elements of a packed B stand for.
  struct Blocks {
    int64_t size = 0; ///< Along k; the last one may be smaller. 0: none.
    std::optional<ElementType> scale, zero; ///< Elements of these, if any.
    /// Where blocks lie along n, so many columns of each row, whole vectors
    /// unless it is all of them: size is 1 then. 0: each column has its own.
    int64_t columns = 0;
  };
  Blocks blocks;
  int64_t blockCount() const {
    return blocks.size ? (k + blocks.size - 1) / blocks.size : 0;
  }
  /// Numbers of a row of blocks.
  int64_t blockColumns() const {
    return blocks.columns ? (n + blocks.columns - 1) / blocks.columns : n;
  }

  /// Dimensions of the batch, outermost first, and how far apart the matrices
  /// are in each; a stride of 0 broadcasts.
  struct BatchDim {
    int64_t size, aStride, bStride, cStride;
  };
  std::vector<BatchDim> batch;

  /// Contiguous row-major A [m,k] and C [m,n], packed B.
  static MatMulShape dense(int64_t m, int64_t n, int64_t k);
};

/// So many rows that take so many panels at once.
struct PanelGroup {
  int64_t rows, panels;
};

/// The cut of one product, and the packing of its columns.
class MatMulPlan {
public:
  /// All of m, n and k are positive. Groups of more than one product want
  /// blocks along k of whole groups and, where they are not widened, rows of A
  /// whose elements are neighbours. Where B is no constant they are of bytes,
  /// which are packed as the program runs.
  MatMulPlan(const MatMulShape &shape, const Target &target,
             const Arithmetic &arithmetic);

  /// Stages run one after the other, each with tasks() tasks.
  int64_t stages() const { return depths.count; }
  /// Whether rows of a tile may lie as far apart as only the program knows:
  /// each takes a register then, which there are enough of for small tiles.
  bool mayTellDistances() const;
  /// Rows of a task, but for the last ones.
  int64_t taskRows() const {
    return rowTiles.size * (copiesPanels() ? rowBlocks.size : 1);
  }
  int64_t panels() const { return order.panels; }
  int64_t panelColumns() const { return panelVectors * lanes; }
  bool clipsColumns() const { return shape.clipsColumns; }
  /// Whether the plan holds for any number of rows (openRows).
  bool keepsRowsOpen() const { return !copiesPanels() || widensPanels(); }
  int64_t tasks() const;
  double flops() const;
  /// Elements of the scratch buffer, of scratchType, that each thread needs; 0
  /// if none. Of bytes whose depth is given, without the panel, which has
  /// panelColumns() for each of whole words of the depth.
  int64_t scratchElements() const;
  ElementType scratchType() const { return arithmetic.rhs; }

  /// Vectors of columns that are widened before they are multiplied, by all
  /// tasks together; 0 where none is.
  int64_t widenedVectors() const;
  /// Whether B is of bytes, or words that hold them, that each task packs: all
  /// others are packed before, or multiplied as they are.
  bool packsBytes() const {
    const bool areBytes =
        isByte(packing.rhs) || packing.rhs == ElementType::I16;
    return areBytes && packing.accumulator == ElementType::I32 &&
           shape.bLayout != MatMulShape::BLayout::Packed;
  }
  /// Of those, so many elements are a word.
  int64_t wordElements() const { return bytesOfWord / packing.rhsBytes(); }
  /// Whether a task has its panel widened before using it.
  bool widensPanels() const { return packing.widensRhs() && !isWidenedInTiles; }

  /// From how many rows on.
  static int64_t leastWidenedRows(const Arithmetic &arithmetic);

  /// Elements of packed B, as they are stored.
  int64_t packedElements() const;
  /// Packs a matrix whose element [k,n] is at k * kStride + n * nStride into
  /// \p packed, which has packedElements() elements.
  void pack(const void *b, int64_t kStride, int64_t nStride,
            void *packed) const;
  /// Elements of packed scales, or of packed zero points.
  int64_t packedNumbers() const;
  /// Packs scales or zero points [blocks, n] of \p bytes each, or [k, blocks]
  /// where these lie along n.
  void packNumbers(const void *numbers, int64_t bytes, void *packed) const;

protected:
  void pairVectors(char *to, int64_t vectors) const;
  /// Whether a task brings its panel into the scratch buffer before using it.
  bool copiesPanels() const;
  /// Of a packed panel.
  int64_t panelElements() const;
  /// Of one of bytes that a task has packed, in words of 32 bits along k.
  int64_t bytePanelElements() const;
  /// Elements of the scratch buffer that a sum takes.
  int64_t sumElements() const {
    return arithmetic.sumBytes() / arithmetic.rhsBytes();
  }
  /// Stored elements of B that a vector of sums takes for one step.
  int64_t vectorElements() const { return lanes * arithmetic.rhsGroup(); }
  /// Whether vector \p v of a packed panel of so many \p vectors lies in words
  /// with the next one: bf16 is widened by an instruction then, where it has a
  /// shift for the lower halves.
  bool isPaired(int64_t v, int64_t vectors) const {
    return packing.rhs == ElementType::BF16 && packing.widensRhs() &&
           packing.accumulator == ElementType::F32 &&
           shape.bLayout == MatMulShape::BLayout::Packed && v % 2 == 0 &&
           v + 1 < vectors;
  }
  /// Whether tiles fetch the next panel of weights while they use this one.
  bool fetchesNext() const;
  /// How many tiles bring the whole next panel together. Nobody knows how many
  /// open rows fill: that many are enough, and others fetch it once more.
  int64_t fetchingTiles() const {
    constexpr int64_t mostOpen = 4;
    return hasOpenRows() ? std::min(order.chunk, mostOpen) : order.chunk;
  }
  /// Where a tile has few sums, \p sums, these are too few to keep the
  /// multipliers busy: so many sets of them take turns over \p steps of the
  /// reduction. For floats that follows from columns and depth alone, so that a
  /// sum has one order whatever else is computed beside it.
  int64_t setsOfSums(int64_t sums, int64_t steps) const;
  /// The first step of a stage; of the one behind the last, their number.
  int64_t firstStep(int64_t stage) const;

  MatMulShape shape;
  Target target;
  Arithmetic packing;    ///< As B is packed,
  Arithmetic multiplied; ///< once columns are widened,
  bool isWidenedInTiles; ///< (in tiles, where not a panel at a time)
  Arithmetic arithmetic; ///< and as tiles read it.
  int64_t lanes;         ///< Of a vector of sums.
  int64_t panelVectors;  ///< Vectors of a whole panel.
  int64_t allVectors;    ///< Vectors that cover n.
  int64_t floatSets = 1; ///< Sets of sums of floats.
  Partition rowTiles;
  Partition depths;      ///< Which steps of the reduction each stage does,
  int64_t depthUnit = 1; ///< in so many at once.
  Partition rowBlocks;   ///< Tiles of a task that copies its panel.
  TaskOrder order;
  bool streamsWeights; ///< They do not stay in the second-level cache.

  /// Where one panel has too few sums for few rows to keep the multipliers
  /// busy; the fewest rows first.
  llvm::ArrayRef<PanelGroup> panelGroups;

  bool hasOpenRows() const {
    return shape.givenRows || !shape.openRows.empty();
  }

private:
  int64_t chooseFloatSets(int64_t steps) const;
  void chooseOrder(int64_t outer, int64_t panels);
  void chooseOpenOrder(int64_t outer, int64_t panels);
  void chooseStages(int64_t rows, int64_t panels);
  /// Packs panel by panel: \p packRow is given where a row of \p width columns
  /// begins, the first of which is \p column, and how many are valid.
  void packPanels(int64_t rows,
                  llvm::function_ref<void(int64_t row, int64_t column,
                                          int64_t valid, int64_t width)>
                      packRow) const;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_MATMULPLAN_H
