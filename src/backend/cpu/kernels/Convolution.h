//===- Convolution.h - generator of direct convolutions -------------------===//
//
// Two-dimensional convolution, one exact shape a kernel. Activations are
// blocked by channel: [N, C/L, H, W, L], where L is the number of f32 lanes of
// a vector and the last block is filled up with channels that nobody reads.
// A product over pixels, 1x1 with stride 1, is the special case where all
// pixels form one row. Groups that are no whole blocks of channels are merged
// until they are, with zeros for the weights between them.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_CONVOLUTION_H
#define SINTER_BACKEND_CPU_KERNELS_CONVOLUTION_H

#include "backend/cpu/kernels/TaskPart.h"
#include "backend/cpu/kernels/Window.h"
#include "llvm/Support/MathExtras.h"

namespace sinter::cpu {

struct ConvolutionShape : WindowShape {
  int64_t batch = 1;
  int64_t inputChannels = 0, outputChannels = 0, groups = 1;
  /// The input is [N, C, H, W]: for the few channels of an image.
  bool hasPlanarInput = false;

  double flops() const;
  /// The fewest groups that together have whole blocks of \p lanes channels.
  int64_t groupsToMerge(int64_t lanes) const;
};

class Convolution {
public:
  /// Activations lie in blocks of as many channels as a vector has sums. Groups
  /// of more than one product want the input blocked; those of weights of few
  /// bits want whole ones (takesGroups).
  Convolution(const ConvolutionShape &shape, const Target &target,
              const Arithmetic &arithmetic = {});

  /// Whether the channels of \p shape that are summed up come in groups of so
  /// many, of which none lies in a part of a block beside another's, or is so
  /// many whole blocks.
  static bool takesGroups(const ConvolutionShape &shape, int64_t lanes,
                          int64_t group) {
    return !shape.hasPlanarInput &&
           (lanes % group == 0 || group % lanes == 0) &&
           shape.inputChannels / shape.groups % group == 0;
  }

  /// Of an image: task t of image i is task i * tasks() + t of all.
  int64_t tasks() const { return order.tasks(); }
  /// What they are the product of; sizes may be named.
  std::vector<TaskPart> taskParts() const;
  /// Elements of the packed weights, with what stands behind them.
  int64_t packedElements() const;
  /// How packed weights lie: [group][panel][block of inputs][tap][input of the
  /// block][output of the panel]. The last panel and the last block may be
  /// smaller; outputs beyond the group's are zeros. Where the arithmetic has
  /// groups of inputs, these lie together behind the output. Where the input
  /// has a zero point, what each output starts from for one of 1 stands behind
  /// all, at a multiple of 64 bytes.
  struct WeightOrder {
    int64_t groups; ///< After merging,
    int64_t merged; ///< how many given ones each consists of,
    int64_t inputs; ///< and its channels.
    int64_t outputs, filledOutputs;
    int64_t panel; ///< Outputs of a panel.
    int64_t block; ///< Inputs of a block, or of as many as a group has.
    int64_t taps;
  };
  WeightOrder weightOrder() const;
  /// Packs weights [K, C/groups, R, S], with the groups as they were given. \p
  /// weights may be unaligned; \p packed has packedElements() elements.
  void pack(const void *weights, void *packed) const;

  /// Emits one task. \p input and \p weights are contiguous memrefs of
  /// operands, of any rank, and \p output one of what the epilogue gives; \p
  /// zero is one of the zero point where that is in memory.
  void build(mlir::OpBuilder &builder, mlir::Location location,
             mlir::Value task, mlir::Value input, mlir::Value weights,
             mlir::Value output, const BlockedEpilogue &epilogue,
             mlir::Value zero = {}) const;

private:
  struct Operands;
  /// Of a group, where the area is not known.
  mlir::Value openUnits(VectorBuilder &code) const;
  /// Pixels of such a unit.
  int64_t openUnitPixels() const { return openUnitTiles * columnTiles.size; }
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
  /// Calls \p emit for each weight as they are packed, with its place among the
  /// given ones, or none where there is nothing to multiply.
  void forEachWeight(
      llvm::function_ref<void(std::optional<int64_t> place)> emit) const;
  void packInitialSums(const int8_t *weights, int32_t *to) const;
  /// Bytes of the packed weights alone.
  int64_t weightBytes() const;
  /// Where the sums that outputs start from stand behind them, in bytes.
  int64_t initialSumsAt() const { return llvm::alignTo(weightBytes(), 64); }
  /// Inputs that are summed up for one tap after the other: a block, or as many
  /// as a group has.
  int64_t blockInputs() const {
    return shape.hasPlanarInput ? 1 : std::max(lanes, arithmetic.kGroup);
  }
  /// Steps for one output: groups of inputs, times taps.
  int64_t reduction() const;
  /// Elements of weights that a step of a panel takes for a vector of sums.
  int64_t vectorElements() const { return lanes * arithmetic.rhsGroup(); }
  /// What is multiplied once weights of few bits are floats.
  Arithmetic multiplied() const {
    return arithmetic.widensRhs() && arithmetic.kGroup > 1
               ? arithmetic.ofWidened()
               : arithmetic;
  }
  /// Whether each tile fetches its part of the next panel.
  bool fetchesNext() const;
  int64_t tilesOfPanel() const;

  Arithmetic arithmetic;
  ConvolutionShape shape; ///< Groups merged, pointwise without rows.
  int64_t mergedGroups;   ///< How many given groups a group consists of.
  int64_t lanes;
  int64_t groupInputs, groupOutputs; ///< Channels of one group.
  int64_t groupVectors;              ///< Vectors that cover a group's outputs.
  int64_t panelVectors;              ///< Vectors of a whole panel.
  int64_t groupPanels;
  Partition columnTiles;
  /// It is a product over the pixels of images of open size, of which all are
  /// one row, though the shape has its height and width.
  bool isOpenPointwise;
  bool tilesAreSmall; ///< Since registers are few.
  bool unitIsTile;    ///< A task computes one tile of a row, not the whole row.
  /// Tiles of a task then, where all pixels are one row of open width.
  int64_t openUnitTiles = 1;
  TaskOrder order;
  bool streamsWeights; ///< They do not stay in the second-level cache.
};

/// The buffers, flat, and which part of the output a task computes.
struct Convolution::Operands {
  mlir::Value input, weights, output;
  const BlockedEpilogue *epilogue;
  /// The zero point as a left factor and as sums, if there is one.
  mlir::Value zero, zeroSum;
  mlir::Value batch;
  mlir::Value inputBase;  ///< Of the first channel of the group, in this image.
  mlir::Value panelBase;  ///< Of the panel's weights.
  mlir::Value firstBlock; ///< The panel's first block of output channels.
  int64_t vectors;        ///< How many the panel has.
  mlir::Value unit;
  mlir::Value outputRow;
  RowTaps taps;
};

/// Sums over blocks of channels, rows and columns of the kernel, channels of a
/// block: the order in which the weights lie.
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
        blockChannels(shape.hasOpenArea()
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
  /// Elements of an image's block of channels.
  mlir::Value planeSize() const {
    return code.mul(shape.inputPixels(code), pixelSize);
  }
  mlir::Value planeAt(mlir::Value block) const;
  mlir::Value weightsAt(mlir::Value block) const;
  using Reach = ColumnTile::Reach;
  /// Where tap \p s of a column of the tile is.
  Reach reach(int64_t column, int64_t s) const {
    return tile.reach(shape, column, s);
  }
  bool reachesAlike(int64_t s, int64_t other) const;
  /// Where the tile reads what a tap multiplies: from \p first on; columns of
  /// which `pixels` are set, from there.
  struct Pixels {
    mlir::Value first;
    llvm::SmallVector<mlir::Value> ofColumn;
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
  const int64_t stepWeights; ///< Elements that a step takes of the panel.
  mlir::Value firstInputColumn;
  /// Of the inputs: channels of a block (or of as many blocks as a group has),
  /// such, channels that are left.
  const int64_t blockChannels, blocks, rest;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_CONVOLUTION_H
