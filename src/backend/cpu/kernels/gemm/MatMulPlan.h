//===- MatMulPlan.h - tiling of matmuls -----------------------------------===//
//
// A matmul is split into panels of columns, tiles of rows and, if operands do
// not fit the second-level cache together, stages of the reduction; packed
// columns are stored panel after panel.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_GEMM_MATMULPLAN_H
#define SINTER_BACKEND_CPU_KERNELS_GEMM_MATMULPLAN_H

#include "backend/cpu/kernels/gemm/DynamicRowTiles.h"
#include "backend/cpu/kernels/gemm/MatMulShape.h"
#include "backend/cpu/kernels/gemm/Tiling.h"

#include <functional>

namespace sinter::cpu {

/// The bytes along k that are packed together, whatever the size of a step.
inline constexpr int64_t bytesOfWord = 4;

/// A number of rows that computes a number of panels at once.
struct PanelGroup {
  int64_t rows, panels;
};

/// The tiling of one matmul, and the packing of its columns.
class MatMulPlan {
public:
  /// All of m, n and k are positive, unless sizes are dynamic. Groups of more
  /// than one product require blocks along k of whole groups and, unless they
  /// are widened, contiguous rows of A. If B is not constant they are int8,
  /// packed at run time.
  MatMulPlan(const MatMulShape &whole, const Target &target,
             const Arithmetic &arithmetic);

  /// Stages run one after the other, each with tasks() tasks.
  int64_t stages() const { return depths.count; }
  /// Whether rows of a tile may lie as far apart as only the program knows:
  /// each takes a register then, which there are enough of for small tiles.
  bool mayTellDistances() const;
  /// Rows of a task, except for the last ones.
  int64_t taskRows() const {
    return rowTiles.size * (copiesPanels() ? rowBlocks.size : 1);
  }
  int64_t panels() const { return order.panels; }
  int64_t panelColumns() const { return panelVectors * lanes; }
  /// Whether the plan holds for any number of rows (dynamicRows).
  bool keepsRowsDynamic() const { return !copiesPanels() || widensPanels(); }
  int64_t tasks() const;
  /// The tiles of rows that are dynamic.
  DynamicRowTiles dynamicTiles() const {
    // Loading weights from memory takes twice as long as computing one row; if
    // they stay in the cache, code size matters more.
    return DynamicRowTiles(rowTiles.size, panelVectors * floatSets,
                           streamsWeights
                               ? DynamicRowTiles::latency * target.multiplyAdds
                               : DynamicRowTiles::busySums);
  }
  double flops() const;
  /// Elements of the scratch buffer, of scratchType, that each thread needs; 0
  /// if none. An int8 panel of a given depth takes room besides.
  int64_t scratchElements() const;
  /// The elements of that room for each step of the depth, if that is dynamic.
  int64_t scratchOfDepth() const {
    return shape.givenDepth && packsBytes() ? panelColumns() : 0;
  }
  ElementType scratchType() const { return arithmetic.rhs; }

  /// Vectors of columns that all tasks widen before the multiplication; 0 if
  /// there are none.
  int64_t widenedVectors() const;
  /// Whether B is int8, possibly stored as i16, and each task packs it: any
  /// other B is packed before, or multiplied directly.
  bool packsBytes() const {
    const bool areBytes =
        isByte(packing.rhs) || packing.rhs == ElementType::I16;
    return areBytes && packing.accumulator == ElementType::I32 &&
           shape.bLayout != MatMulShape::BLayout::Packed;
  }
  /// The elements of B per 32-bit word.
  int64_t wordElements() const { return bytesOfWord / packing.rhsBytes(); }
  /// Whether a task widens its panel before using it.
  bool widensPanels() const { return packing.widensRhs() && !isWidenedInTiles; }

  /// The fewest rows for that.
  static int64_t leastWidenedRows(const Arithmetic &arithmetic);

  /// Elements of packed B, in the storage type.
  int64_t packedElements() const;
  /// Packs a matrix whose element [k,n] is at k * kStride + n * nStride into
  /// \p packed, which has packedElements() elements.
  void pack(const void *b, int64_t kStride, int64_t nStride,
            void *packed) const;
  /// Elements of packed scales, or of packed zero points.
  int64_t packedNumbers() const;
  /// Packs scales or zero points [blocks, n] of \p bytes each, or [k, blocks]
  /// if these are along n.
  void packNumbers(const void *numbers, int64_t bytes, void *packed) const;

protected:
  void pairVectors(char *to, int64_t vectors) const;
  /// Whether a task copies its panel to the scratch buffer before using it.
  bool copiesPanels() const;
  /// Elements of a packed panel.
  int64_t panelElements() const;
  /// Elements of an int8 panel that a task packs, in 32-bit words along k.
  int64_t bytePanelElements() const;
  /// Elements of the scratch buffer per accumulator.
  int64_t sumElements() const {
    return arithmetic.sumBytes() / arithmetic.rhsBytes();
  }
  /// Stored elements of B per vector of accumulators and step.
  int64_t vectorElements() const { return lanes * arithmetic.rhsGroup(); }
  /// Whether vector \p v of a packed panel of \p vectors vectors shares 32-bit
  /// lanes with the next one: bf16 is then widened by one instruction, a mask
  /// or, for the lower halves, a shift.
  bool isPaired(int64_t v, int64_t vectors) const {
    return packing.rhs == ElementType::BF16 && packing.widensRhs() &&
           packing.accumulator == ElementType::F32 &&
           shape.bLayout == MatMulShape::BLayout::Packed && v % 2 == 0 &&
           v + 1 < vectors;
  }
  /// Whether tiles prefetch the next panel of weights while they use this one.
  bool fetchesNext() const;
  /// How many tiles bring the whole next panel together. Nobody knows how many
  /// dynamic rows fill: that many are enough, and others fetch it once more.
  int64_t fetchingTiles() const {
    constexpr int64_t mostDynamic = 4;
    return hasDynamicRows() ? std::min(order.chunk, mostDynamic) : order.chunk;
  }
  /// The number of accumulator sets that alternate over \p steps of the
  /// reduction, if a tile's \p sums accumulators are too few to keep the
  /// multipliers busy. For floats it depends only on columns and depth, so that
  /// the summation order does not depend on other rows.
  int64_t setsOfSums(int64_t sums, int64_t steps) const;
  /// The first step of a stage; for the stage after the last, the step count.
  int64_t firstStep(int64_t stage) const;

  MatMulShape shape;
  Target target;
  Arithmetic packing;    ///< For packed B,
  Arithmetic multiplied; ///< after widening,
  bool isWidenedInTiles; ///< (in tiles, or a panel at a time)
  Arithmetic arithmetic; ///< and as read by tiles.
  int64_t lanes;         ///< Of a vector of accumulators.
  int64_t panelVectors;  ///< Vectors of a whole panel.
  int64_t allVectors;    ///< Vectors that cover n.
  int64_t floatSets = 1; ///< Sets of float accumulators.
  Partition rowTiles;
  Partition depths;      ///< The steps of the reduction of each stage,
  int64_t depthUnit = 1; ///< in units of this size.
  Partition rowBlocks;   ///< Tiles of a task that copies its panel.
  TaskOrder order;
  bool streamsWeights; ///< Weights exceed the second-level cache.

  /// Groups of panels for few rows, whose accumulators of one panel do not keep
  /// the multipliers busy; the fewest rows first.
  llvm::ArrayRef<PanelGroup> panelGroups;

  bool hasDynamicRows() const {
    return shape.givenRows || !shape.dynamicRows.empty();
  }

private:
  int64_t chooseFloatSets(int64_t steps) const;
  void chooseOrder(int64_t outer, int64_t panels);
  void chooseDynamicOrder(int64_t outer, int64_t panels);
  void chooseStages(int64_t rows, int64_t panels);
  /// Packs panel by panel: \p packRow receives the row, its first column
  /// \p column, the valid columns and the width.
  void packPanels(int64_t rows,
                  llvm::function_ref<void(int64_t row, int64_t column,
                                          int64_t valid, int64_t width)>
                      packRow) const;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_GEMM_MATMULPLAN_H
