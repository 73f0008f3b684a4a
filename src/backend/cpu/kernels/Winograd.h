//===- Winograd.h - generator of 3x3 convolutions by fast convolution -----===//
//
// Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2015:
// F(4x4, 3x3) computes 4x4 outputs from 6x6 inputs with 36 multiplications
// where the definition takes 144, and F(2x4, 3x3) 2x4 from 4x6 with 24 for 72,
//
//   Y = A^T [ sum over channels (G g G^T) . (B^T d B) ] A
//
// so per element of the tile there is one product of matrices, tiles by
// channels. The smaller tile is for images of few tiles, whose weights take
// longer to read than to multiply. Of floats results differ from the
// definition's by about 1e-5 of the largest output, of bytes they do not
// (WinogradArithmetic.h). Activations are blocked by channel as in
// Convolution.h.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_WINOGRAD_H
#define SINTER_BACKEND_CPU_KERNELS_WINOGRAD_H

#include "backend/cpu/kernels/Convolution.h"
#include "backend/cpu/kernels/WinogradArithmetic.h"

#include <optional>

namespace sinter::cpu {

class Winograd {
  static constexpr int64_t tileColumns = WinogradArithmetic::outputColumns,
                           windowColumns = WinogradArithmetic::inputColumns;

public:
  /// A kernel, by KernelPlan's name, and the rows of its tile's outputs.
  struct Form {
    llvm::StringRef kernel;
    int64_t outputRows;
  };
  static llvm::ArrayRef<Form> forms();
  /// The one that \p kernel is; null if it is none.
  static const Form *formOf(llvm::StringRef kernel);

  /// Whether the shape is a 3x3 convolution with stride and dilation 1, one
  /// group, and blocked input.
  static bool supports(const ConvolutionShape &shape);
  /// How many tiles there are, and the bytes of one, input and output, and of
  /// the weights.
  struct Sizes {
    int64_t tiles, tileBytes, weightBytes;
  };
  static Sizes sizesOf(const ConvolutionShape &shape,
                       const WinogradArithmetic &arithmetic = {});

  /// \p images is the number of images, or its name, where that or the size of
  /// one is not known; \p shape is that of one then.
  Winograd(const ConvolutionShape &shape, const Target &target,
           std::optional<int64_t> images = std::nullopt,
           const WinogradArithmetic &arithmetic = {});

  /// One stage: a task takes some tiles all the way, in scratch memory of the
  /// thread. Three stages, each a kernel of its own, over memory that all tasks
  /// share: transform the input, multiply, transform the output. The first
  /// where the weights stay in cache, the other for many channels. Where the
  /// tiles of all images would take 16 times the second-level cache, the three
  /// stages take them in rounds of equally many: task t of round r of a stage
  /// is task r * tasks(stage) + t of its kernel.
  ///
  /// Of images whose number or size is not known each is unitsOfImage() units
  /// of some tiles; their number is even if there is one stage, as closed sizes
  /// are cut, too. One stage has a task for each, three stages take
  /// unitsOfRound() of them in a round; tasks, operations and the workspace are
  /// those of one unit then, whose tasks are numbered behind those of the units
  /// before it. Where the size is not known, a unit has as many tiles as a tile
  /// of registers has rows (or some times as many, if there is one stage) at
  /// most.
  int64_t stages() const { return isFused ? 1 : 3; }
  int64_t rounds() const { return isFused || images ? 1 : bands; }
  int64_t tasks(int64_t stage) const;
  std::vector<TaskPart> unitsOfImage() const;
  int64_t unitsOfRound() const { return roundUnits; }
  /// Arithmetic operations of a stage, of all rounds.
  double flops(int64_t stage) const;
  /// What the workspace is of: f32, or words of 32 bits.
  ElementType workspaceType() const { return arithmetic.products.accumulator; }
  /// Elements of the workspace: scratch of a thread if there is one stage, else
  /// a temporary that lives from the first to the last stage.
  int64_t workspaceElements() const;

  /// The packed weights, and what stands behind them, in elements of the given
  /// ones.
  int64_t packedElements() const;
  /// Transforms and packs weights [K, C, 3, 3]; \p weights may be unaligned.
  void pack(const void *weights, void *packed) const;

  /// The buffers of build; each stage uses some of them, and the others may be
  /// null: with three stages, the first reads the input, the second the
  /// weights, the third writes the output, for which it reads what stands
  /// behind the weights. Contiguous memrefs; \p zero is one of the zero point
  /// where that is in memory.
  struct Buffers {
    mlir::Value input, weights, workspace, output, zero = {};
  };
  /// Emits one task of \p stage.
  void build(int64_t stage, mlir::OpBuilder &builder, mlir::Location location,
             mlir::Value task, const Buffers &buffers,
             const BlockedEpilogue &epilogue) const;

private:
  /// The weights are read once a round, so a round has some tiles at least,
  /// whatever they take.
  static constexpr int64_t leastTilesInRound = 96;

  struct Tile;
  /// What a task works on.
  struct Work {
    Buffers buffers;
    /// The image that tiles are counted in; null where they are those of all.
    mlir::Value image;
    /// Where the unit's part of the workspace begins, in elements.
    mlir::Value workspace;
  };
  Tile locate(VectorBuilder &code, const Work &work, mlir::Value tile) const;
  // Of an image, whose size may not be known.
  mlir::Value tilesAlongIn(VectorBuilder &code) const;
  mlir::Value tilesIn(VectorBuilder &code) const;
  mlir::Value bandsIn(VectorBuilder &code) const;
  void transformInput(VectorBuilder &code, const Work &work, mlir::Value tile,
                      mlir::Value slot, mlir::Value block) const;
  mlir::Value copyBorder(VectorBuilder &code, const Work &work, mlir::Value row,
                         mlir::Value column, mlir::Value base,
                         mlir::Value isInterior) const;
  void multiply(VectorBuilder &code, const Work &work, mlir::Value element,
                mlir::Value panel, mlir::Value rowTile) const;
  /// The same where the unit has only \p count tiles, as the program finds.
  void multiplyOpen(VectorBuilder &code, const Work &work, mlir::Value element,
                    mlir::Value panel, mlir::Value firstSlot,
                    mlir::Value count) const;
  /// Whether units of an open image differ by one tile at most, or the last one
  /// has what is left over.
  bool cutsEvenly() const;
  void multiplyTile(VectorBuilder &code, const Work &work, mlir::Value element,
                    mlir::Value panel, mlir::Value firstSlot, int64_t rows,
                    int64_t vectors) const;
  void transformOutput(VectorBuilder &code, const Work &work, mlir::Value tile,
                       mlir::Value slot, mlir::Value block,
                       const BlockedEpilogue &epilogue) const;
  void buildFused(VectorBuilder &code, mlir::Value task, Work work,
                  const BlockedEpilogue &epilogue) const;
  /// \p inRound is the number of the task among those of its round, of
  /// \p count units, of which \p first is the first.
  void buildUnits(int64_t stage, VectorBuilder &code, Work work,
                  mlir::Value inRound, mlir::Value first, mlir::Value count,
                  const BlockedEpilogue &epilogue) const;
  void transform(int64_t stage, VectorBuilder &code, const Work &work,
                 mlir::Value tile, mlir::Value slot, mlir::Value block,
                 const BlockedEpilogue &epilogue) const;
  void transformOfRound(int64_t stage, VectorBuilder &code, const Work &work,
                        mlir::Value tile, mlir::Value slot, mlir::Value block,
                        const BlockedEpilogue &epilogue) const;
  /// Elements between the planes of two elements of the tile: an odd number of
  /// vectors, so that they do not compete for the same sets of the cache.
  int64_t inputPlane() const {
    return (inputBlocks * slots | 1) * blockSteps();
  }
  int64_t outputPlane() const { return (outputBlocks * slots | 1) * lanes; }
  /// Steps of the product over a block of channels: an element of the workspace
  /// holds the channels of one.
  int64_t blockSteps() const { return lanes / arithmetic.products.kGroup; }
  /// Weights that a step takes for a vector of outputs, and those for all
  /// outputs and one element of the tile, as elements of the given ones.
  int64_t vectorWeights() const;
  int64_t weightPlane() const;
  /// Where, for each output, what it starts from for a zero point of 1 stands
  /// behind the weights, in bytes.
  int64_t initialSumsAt() const;
  void packInitialSums(const std::byte *weights, int32_t *to) const;
  mlir::Value loadWeights(VectorBuilder &code, const Work &work,
                          mlir::Value offset) const;
  /// The channels of a step of one tile, in all lanes.
  mlir::Value loadChannels(VectorBuilder &code, const Work &work,
                           mlir::Value offset) const;
  /// What the zero point takes off the outputs of \p block; null without.
  mlir::Value initialSums(VectorBuilder &code, const Work &work,
                          mlir::Value block) const;
  mlir::VectorType sumType(VectorBuilder &code) const;
  /// Of a tile's outputs, and of its inputs.
  int64_t tileRows() const { return arithmetic.outputRows; }
  int64_t windowRows() const { return arithmetic.inputRows(); }

  WinogradArithmetic arithmetic;
  ConvolutionShape shape;
  int64_t lanes;
  int64_t inputBlocks, outputBlocks;
  int64_t tilesDown, tilesAlong; ///< Of an image of known size.
  std::optional<int64_t> images; ///< Their number, or its name.
  bool isOpen;                   ///< The size of an image is not known.
  bool masksLoads;               ///< Of what may lie outside of an image.
  int64_t tiles; ///< Of all images, or of one of so many; an estimate if open.
  bool isFused;
  int64_t slots; ///< Tiles that are in work together.
  int64_t bands; ///< Of `slots` tiles each, but for the last.
  int64_t roundUnits = 1;
  int64_t panelVectors, panels;
  Partition rowTiles;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_WINOGRAD_H
