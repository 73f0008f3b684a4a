//===- Convolution.h - generator of direct convolutions -------------------===//
//
// Two-dimensional convolution, one kernel per shape. Activations are blocked by
// channel: [N, C/L, H, W, L], where L is the number of f32 lanes of a vector
// and the last block is padded with unused channels. In a pointwise
// convolution, 1x1 with stride 1, all pixels form one row. Groups that are not
// whole blocks of channels are merged until they are, with zero weights between
// them.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_CONV_CONVOLUTION_H
#define SINTER_BACKEND_CPU_KERNELS_CONV_CONVOLUTION_H

#include "backend/cpu/kernels/common/TaskExtent.h"
#include "backend/cpu/kernels/conv/Window.h"
#include "llvm/Support/MathExtras.h"

namespace sinter::cpu {

struct ConvolutionShape : WindowShape {
  int64_t batch = 1;
  int64_t inputChannels = 0, outputChannels = 0, groups = 1;
  /// Whether the input is [N, C, H, W]: for the few channels of an image.
  bool hasPlanarInput = false;

  double flops() const;
  /// The fewest groups that together have whole blocks of \p lanes channels.
  int64_t groupsToMerge(int64_t lanes) const;
};

class Convolution {
public:
  /// The channel blocks of activations have as many channels as a vector has
  /// accumulators. Dot-product instructions need a blocked input, and with
  /// low-bit weights whole groups (takesGroups).
  Convolution(const ConvolutionShape &shape, const Target &target,
              const Arithmetic &arithmetic = {});

  /// Whether the input channels of each of \p shape's groups split into groups
  /// of \p group channels that divide a block or are whole blocks.
  static bool takesGroups(const ConvolutionShape &shape, int64_t lanes,
                          int64_t group) {
    return !shape.hasPlanarInput &&
           (lanes % group == 0 || group % lanes == 0) &&
           shape.inputChannels / shape.groups % group == 0;
  }

  /// The tasks of an image: task t of image i is task i * tasks() + t of all.
  int64_t tasks() const { return order.tasks(); }
  /// The extents whose product is the task count; sizes may be named.
  std::vector<TaskExtent> taskExtents() const;
  /// Elements of the packed weights and of the initial sums after them.
  int64_t packedElements() const;
  /// The layout of packed weights: [group][panel][block of inputs][tap][input
  /// of the block][output of the panel]. The last panel and the last block may
  /// be smaller; outputs beyond the group's are zeros. If the arithmetic has
  /// groups of inputs, these are innermost. If the input has a zero point, each
  /// output's initial accumulator for a zero point of 1 follows, at a multiple
  /// of 64 bytes.
  struct WeightOrder {
    int64_t groups; ///< After merging,
    int64_t merged; ///< the original groups in each,
    int64_t inputs; ///< and its input channels.
    int64_t outputs, filledOutputs;
    int64_t panel; ///< Outputs of a panel.
    int64_t block; ///< Inputs of a block, or of a group's blocks.
    int64_t taps;
  };
  WeightOrder weightOrder() const;
  /// Packs weights [K, C/groups, R, S], with the original groups. \p weights
  /// may be unaligned; \p packed has packedElements() elements.
  void pack(const void *weights, void *packed) const;

  /// Emits one task. \p input and \p weights are contiguous memrefs of
  /// operands, of any rank, and \p output one of the epilogue's results;
  /// \p zero holds the zero point if that is in memory.
  void build(mlir::OpBuilder &builder, mlir::Location location,
             mlir::Value task, mlir::Value input, mlir::Value weights,
             mlir::Value output, const BlockedEpilogue &epilogue,
             mlir::Value zero = {}) const;

private:
  struct Operands;
  /// Of a group, where the area is not known.
  mlir::Value dynamicUnits(VectorBuilder &code) const;
  /// Pixels of such a unit.
  int64_t dynamicUnitPixels() const {
    return dynamicUnitTiles * columnTiles.size;
  }
  TaskOrder::Task decode(VectorBuilder &code, mlir::Value task) const;
  void buildUnit(VectorBuilder &code, Operands &operands) const;
  bool finishesInLoop(const Operands &operands) const;
  void buildTile(VectorBuilder &code, Operands &operands,
                 const ColumnTile &tile) const;
  void buildClosedTile(VectorBuilder &code, Operands &operands) const;
  class Reduction;
  class Finish;
  template <typename T> void packAs(const char *from, T *to) const;
  void packBits(const char *from, char *to) const;
  /// Calls \p emit for each packed weight, with its index in the original ones,
  /// or none for padding.
  void forEachWeight(
      llvm::function_ref<void(std::optional<int64_t> place)> emit) const;
  void packInitialSums(const int8_t *weights, int32_t *to) const;
  /// Bytes of the packed weights alone.
  int64_t weightBytes() const;
  /// The offset of the initial accumulators after them, in bytes.
  int64_t initialSumsAt() const { return llvm::alignTo(weightBytes(), 64); }
  /// Inputs that are accumulated tap by tap: a block, or a group of inputs.
  int64_t blockInputs() const {
    return shape.hasPlanarInput ? 1 : std::max(lanes, arithmetic.kGroup);
  }
  /// Steps for one output: groups of inputs, times taps.
  int64_t reduction() const;
  /// The weights that a step of a panel uses for a vector of accumulators.
  int64_t vectorElements() const { return lanes * arithmetic.rhsGroup(); }
  /// The arithmetic after low-bit weights are widened to floats.
  Arithmetic multiplied() const {
    return arithmetic.widensRhs() && arithmetic.kGroup > 1
               ? arithmetic.ofWidened()
               : arithmetic;
  }
  /// Whether each tile prefetches its share of the next panel.
  bool fetchesNext() const;
  int64_t tilesOfPanel() const;

  Arithmetic arithmetic;
  ConvolutionShape shape; ///< Groups merged, pointwise without rows.
  int64_t mergedGroups;   ///< The number of original groups in a group.
  int64_t lanes;
  int64_t groupInputs, groupOutputs; ///< Channels of one group.
  int64_t groupVectors;              ///< Vectors that cover a group's outputs.
  int64_t panelVectors;              ///< Vectors of a whole panel.
  int64_t groupPanels;
  Partition columnTiles;
  /// It is a product over the pixels of images of dynamic size, of which all
  /// are one row, though the shape has its height and width.
  bool isDynamicPointwise;
  bool tilesAreSmall; ///< Because there are few registers.
  bool unitIsTile;    ///< A task computes one tile of a row, not the whole row.
  /// Tiles of a task then, where all pixels are one row of dynamic width.
  int64_t dynamicUnitTiles = 1;
  TaskOrder order;
  bool streamsWeights; ///< Weights exceed the second-level cache.
};

/// The flat buffers, and the region of the output that a task computes.
struct Convolution::Operands {
  mlir::Value input, weights, output;
  const BlockedEpilogue *epilogue;
  /// The zero point as a left operand and as accumulators, if there is one.
  mlir::Value zero, zeroSum;
  mlir::Value batch;
  mlir::Value inputBase;  ///< Offset of the group's first channel in the image.
  mlir::Value panelBase;  ///< The offset of the panel's weights.
  mlir::Value firstBlock; ///< The panel's first block of output channels.
  int64_t vectors;        ///< The vectors of the panel.
  mlir::Value unit;
  mlir::Value outputRow;
  RowTaps taps;
};

/// Accumulates over blocks of channels, rows and columns of the kernel,
/// channels of a block: the order of the packed weights.
class Convolution::Reduction {
public:
  Reduction(const Convolution &of, VectorBuilder &code, Operands &operands,
            const ColumnTile &tile)
      : of(of), shape(of.shape), code(code), operands(operands), tile(tile),
        multiplied(of.multiplied()),
        registers(tile.columns, operands.vectors, multiplied, of.lanes),
        pixelSize(shape.hasPlanarInput ? 1 : of.lanes),
        stepWeights(operands.vectors * of.vectorElements()),
        firstInputColumn(code.sub(code.mul(tile.firstColumn, shape.strideWidth),
                                  code.index(shape.padLeft))),
        blockChannels(shape.hasDynamicArea()
                          ? of.blockInputs()
                          : std::min(of.blockInputs(), of.groupInputs)),
        blocks(of.groupInputs / blockChannels),
        rest(of.groupInputs % blockChannels) {}

  llvm::SmallVector<mlir::Value> run();

private:
  llvm::SmallVector<mlir::Value> forEachBlock(
      mlir::ValueRange sums,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(
          mlir::Value block, mlir::Value steps, mlir::ValueRange carried)>
          body);
  void fetchNext(mlir::Value weights, mlir::Value steps);
  llvm::SmallVector<mlir::Value> loadWeights(mlir::Value weights);
  llvm::SmallVector<mlir::Value> initialSums();
  llvm::SmallVector<mlir::Value>
  rowsOutside(mlir::ValueRange sums, mlir::Value begin, mlir::Value end);
  /// The elements of an image's block of channels.
  mlir::Value planeSize() const {
    return code.mul(shape.inputPixels(code), pixelSize);
  }
  mlir::Value planeAt(mlir::Value block) const;
  mlir::Value weightsAt(mlir::Value block) const;
  using Reach = ColumnTile::Reach;
  /// Whether tap \p s of a column of the tile is inside the input.
  Reach reach(int64_t column, int64_t s) const {
    return tile.reach(shape, column, s);
  }
  bool reachesAlike(int64_t s, int64_t other) const;
  /// The pixels that a tap reads: from offset `first` on, or for each column
  /// from `ofColumn`, if set; `insideOfColumn` is whether they are inside the
  /// input.
  struct Pixels {
    mlir::Value first;
    llvm::SmallVector<mlir::Value> ofColumn, insideOfColumn;

    /// Null where the column is surely inside.
    mlir::Value isInside(int64_t column) const {
      return insideOfColumn.empty() ? mlir::Value() : insideOfColumn[column];
    }
  };
  void step(llvm::SmallVector<mlir::Value> &sums, mlir::Value weights,
            const Pixels &pixels, mlir::Value channel, int64_t s);
  llvm::SmallVector<mlir::Value> tap(mlir::ValueRange carried,
                                     mlir::Value steps, mlir::Value weights,
                                     const Pixels &pixels, int64_t s);
  llvm::SmallVector<mlir::Value>
  tapAtEdge(mlir::ValueRange carried, mlir::Value steps, mlir::Value weights,
            mlir::Value input, mlir::Value plane, mlir::Value s, int64_t first,
            int64_t end);
  llvm::SmallVector<mlir::Value>
  tapOfPart(mlir::ValueRange carried, mlir::Value steps, mlir::Value weights,
            mlir::Value input, mlir::Value plane, mlir::Value s, int64_t begin,
            int64_t end);
  llvm::SmallVector<mlir::Value>
  tapsAtWideEdge(mlir::ValueRange carried, mlir::Value steps,
                 mlir::Value weights, mlir::Value input, mlir::Value plane);
  llvm::SmallVector<mlir::Value>
  kernelRow(mlir::ValueRange carried, mlir::Value steps, mlir::Value weights,
            mlir::Value input, mlir::Value plane);
  llvm::SmallVector<mlir::Value> block(mlir::ValueRange carried,
                                       mlir::Value steps, mlir::Value plane,
                                       mlir::Value weights);

  const Convolution &of;
  const ConvolutionShape &shape;
  VectorBuilder &code;
  Operands &operands;
  const ColumnTile &tile;
  const Arithmetic multiplied;
  RegisterTile registers;
  const int64_t pixelSize;
  const int64_t stepWeights; ///< Weights of the panel per step.
  mlir::Value firstInputColumn;
  /// The input channels of a block (or of the blocks of a group of inputs), the
  /// number of such blocks, and the remaining channels.
  const int64_t blockChannels, blocks, rest;
  bool skipsTaps = false; ///< It accumulates taps of a wide edge.
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_CONV_CONVOLUTION_H
