//===- Winograd.h - generator of Winograd 3x3 convolutions ----------------===//
//
// Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2015:
// F(4x4, 3x3) computes 4x4 outputs from 6x6 inputs with 36 multiplications
// instead of 144, and F(2x4, 3x3) 2x4 from 4x6 with 24 instead of 72,
//
//   Y = A^T [ sum over channels (G g G^T) . (B^T d B) ] A
//
// so each element of the tile is one matmul, tiles by channels. The smaller
// tile is for images of few tiles, where reading weights takes longer than
// multiplying. Float results differ from direct convolution by about 1e-5 of
// the largest output, int8 results do not (WinogradArithmetic.h). Activations
// are blocked by channel as in Convolution.h.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_CONV_WINOGRAD_H
#define SINTER_BACKEND_CPU_KERNELS_CONV_WINOGRAD_H

#include "backend/cpu/kernels/conv/Convolution.h"
#include "backend/cpu/kernels/conv/WinogradArithmetic.h"

#include <optional>

namespace sinter::cpu {

class Winograd {
  static constexpr int64_t tileColumns = WinogradArithmetic::outputColumns,
                           windowColumns = WinogradArithmetic::inputColumns;

public:
  /// A kernel, by KernelPlan's name, and the output rows of its tiles.
  struct Form {
    llvm::StringRef kernel;
    int64_t outputRows;
  };
  static llvm::ArrayRef<Form> forms();
  /// The form of \p kernel; null if it is no Winograd kernel.
  static const Form *formOf(llvm::StringRef kernel);

  /// Whether the shape is a 3x3 convolution with stride and dilation 1, one
  /// group, and blocked input.
  static bool supports(const ConvolutionShape &shape);
  /// The number of tiles, and the bytes of one, input and output, and of the
  /// weights.
  struct Sizes {
    int64_t tiles, tileBytes, weightBytes;
  };
  static Sizes sizesOf(const ConvolutionShape &shape,
                       const WinogradArithmetic &arithmetic = {});

  /// \p images is the number of images where that or the size of
  /// one is not known; \p shape is that of one then.
  Winograd(const ConvolutionShape &shape, const Target &target,
           std::optional<Dim> images = std::nullopt,
           const WinogradArithmetic &arithmetic = {});

  /// One stage: a task does all steps for some tiles, in scratch memory of the
  /// thread. Three stages, each a separate kernel, on shared memory: transform
  /// the input, multiply, transform the output. One stage if the weights stay
  /// in cache, three for many channels. If the tiles of all images would take
  /// 16 times the second-level cache, the three stages process them in rounds
  /// of equal size: task t of round r of a stage is task r * tasks(stage) + t
  /// of its kernel.
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
  std::vector<TaskExtent> unitsOfImage() const;
  int64_t unitsOfRound() const { return roundUnits; }
  /// Arithmetic operations of a stage, of all rounds.
  double flops(int64_t stage) const;
  /// The element type of the workspace: f32 or i32.
  ElementType workspaceType() const { return arithmetic.products.accumulator; }
  /// Elements of the workspace: scratch of a thread if there is one stage, else
  /// a temporary that lives from the first to the last stage.
  int64_t workspaceElements() const;

  /// The size of the packed weights and the data after them, in elements of the
  /// original weights' type.
  int64_t packedElements() const;
  /// Transforms and packs weights [K, C, 3, 3]; \p weights may be unaligned.
  void pack(const void *weights, void *packed) const;

  /// The buffers of build; each stage uses some of them, and the others may be
  /// null: with three stages, the first reads the input, the second the
  /// weights, the third writes the output, for which it reads the data after
  /// the weights. Contiguous memrefs; \p zero holds the zero point if that is
  /// in memory.
  struct Buffers {
    mlir::Value input, weights, workspace, output, zero = {};
  };
  /// Emits one task of \p stage.
  void build(int64_t stage, mlir::OpBuilder &builder, mlir::Location location,
             mlir::Value task, const Buffers &buffers,
             const BlockedEpilogue &epilogue) const;

private:
  /// The weights are read once per round, so a round has a minimum number of
  /// tiles, whatever their size.
  static constexpr int64_t leastTilesInRound = 96;

  struct Tile;
  /// The data of a task.
  struct Work {
    Buffers buffers;
    /// The image that tiles are counted in; null where they are those of all.
    mlir::Value image;
    /// The start of the unit's workspace, in elements.
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
  void multiplyDynamic(VectorBuilder &code, const Work &work,
                       mlir::Value element, mlir::Value panel,
                       mlir::Value firstSlot, mlir::Value count) const;
  /// Whether units of a dynamic image differ by one tile at most, or the last
  /// one has what is left over.
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
  /// The distance between the planes of two elements of the tile: an odd number
  /// of vectors, to avoid conflicts in cache sets.
  int64_t inputPlane() const {
    return (inputBlocks * slots | 1) * blockSteps();
  }
  int64_t outputPlane() const { return (outputBlocks * slots | 1) * lanes; }
  /// Steps of the matmul over a block of channels: an element of the workspace
  /// holds the channels of one step.
  int64_t blockSteps() const { return lanes / arithmetic.products.kGroup; }
  /// The weights of a step for a vector of outputs, and those for all outputs
  /// and one element of the tile, in elements of the original type.
  int64_t vectorWeights() const;
  int64_t weightPlane() const;
  /// The offset of each output's initial accumulator for a zero point of 1,
  /// after the weights, in bytes.
  int64_t initialSumsAt() const;
  void packInitialSums(const std::byte *weights, int32_t *to) const;
  mlir::Value loadWeights(VectorBuilder &code, const Work &work,
                          mlir::Value offset) const;
  /// The channels of a step of one tile, broadcast to all lanes.
  mlir::Value loadChannels(VectorBuilder &code, const Work &work,
                           mlir::Value offset) const;
  /// The zero point correction of the outputs of \p block; null without one.
  mlir::Value initialSums(VectorBuilder &code, const Work &work,
                          mlir::Value block) const;
  mlir::VectorType sumType(VectorBuilder &code) const;
  /// The rows of a tile's outputs, and of its inputs.
  int64_t tileRows() const { return arithmetic.outputRows; }
  int64_t windowRows() const { return arithmetic.inputRows(); }

  WinogradArithmetic arithmetic;
  ConvolutionShape shape;
  int64_t lanes;
  int64_t inputBlocks, outputBlocks;
  int64_t tilesDown, tilesAlong; ///< Of an image of known size.
  std::optional<Dim> images;     ///< Their number.
  bool isDynamic;                ///< The size of an image is not known.
  bool masksLoads;               ///< Of pixels that may be outside an image.
  int64_t tiles; ///< Of all images, or of one of so many; an estimate if open.
  bool isFused;
  int64_t slots; ///< Tiles that are processed together.
  int64_t bands; ///< Of `slots` tiles each, but for the last.
  int64_t roundUnits = 1;
  int64_t panelVectors, panels;
  Partition rowTiles;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_CONV_WINOGRAD_H
